import AnnalsModel
import AnnalsState

extension QueryPlan: CustomStringConvertible {
  /// The plan in words: what serves the query and how many objects are read, why other indexes do
  /// not, and which index would help if none serves.
  package var description: String {
    var lines: [String] = []
    if let path {
      let kind = path.search == nil ? "index" : "box index"
      lines.append("by \(kind) `\(path.name)`: \(path.count) of \(count) objects")
      if path.rest != .always { lines.append("each is asked: \(path.rest)") }
    } else {
      lines.append("reads all \(count) objects")
      if query.condition != .always { lines.append("each is asked: \(query.condition)") }
    }
    if !query.keys.isEmpty { lines.append(isInOrder ? "in order" : "then put in order") }
    for other in others {
      let reason =
        if other.cost != nil {
          "it would cost more"
        } else if hasReplacement(under: other.name) {
          "some objects lack a value, which records read as another"
        } else {
          "it neither narrows this query nor has its order"
        }
      lines.append("not by index `\(other.name)`: \(reason)")
    }
    if let columns = boxColumns {
      if needsBox(of: columns) {
        let names = columns.map(\.name).joined(separator: ",")
        lines.append("a box index of `\(names)` would help")
      }
    } else if let helpful {
      let keys = helpful.map(\.description).joined(separator: ",")
      lines.append("an index of `\(keys)` would help")
    }
    return lines.joined(separator: "\n")
  }

  /// Whether the query replaces missing values of a property that the index is over.
  private func hasReplacement(under index: String) -> Bool {
    let shape = entity.indexShapes.first { entity.name(of: $0).hasSameBytes(as: index) }
    let columns = Set(shape?.columns.map(\.property) ?? [])
    return (query.condition.paths + query.keys.map(\.path)).contains { path in
      guard path.replacement != nil, path.names.count == 1 else { return false }
      return entity.propertyNumber(named: path.names[0]).map(columns.contains) ?? false
    }
  }

  /// How many objects an index may leave before another kind of index would help.
  private static let worthwhile = 512

  /// The attributes of a box index that would narrow the query; nil if it does not leave a range of
  /// several. A single value is better served by an index that begins with it.
  private var boxColumns: [Attribute]? {
    let ranges = ColumnRange.ranges(query.condition.conjuncts, of: entity)
    guard ranges.values.allSatisfy({ $0.single == nil }) else { return nil }
    let columns = entity.attributes.filter { ranges[$0.number] != nil && $0.type.fitsBox }
    return IndexDescription.boxPropertyCounts.contains(columns.count) ? columns : nil
  }

  /// Whether no box index has two of these attributes, and what serves leaves many objects.
  private func needsBox(of columns: [Attribute]) -> Bool {
    let numbers = Set(columns.map(\.number))
    let isThere = entity.indexShapes.contains {
      $0.isBox && $0.tests.isEmpty && numbers.intersection($0.columns.map(\.property)).count > 1
    }
    return !isThere && count > 0 && path.map { $0.count > QueryPlan.worthwhile } ?? true
  }

  /// The keys of an index that would narrow the query or give its order where none that there is
  /// does: the attributes with a single value, then those sorted by, or one with a range of values.
  private var helpful: [SortKey]? {
    guard count > 0, path == nil || !isInOrder else { return nil }
    let ranges = ColumnRange.ranges(query.condition.conjuncts, of: entity)
    let singles = entity.attributes.filter { ranges[$0.number]?.single != nil }
    let ranged = entity.attributes.first {
      ranges[$0.number] != nil && ranges[$0.number]?.single == nil
    }
    var keys = singles.map { SortKey(PropertyPath($0.name)) }
    let order = query.keys.filter { key in !keys.contains { $0.path == key.path } }
    let isStored = order.allSatisfy { key in
      key.path.names.count == 1 && key.textOrder == .binary
        && entity.attribute(named: key.path.names[0]).map { $0.type != .any } ?? false
    }
    if let first = order.first, isStored,
      ranged.map({ first.path == PropertyPath($0.name) }) ?? true
    {
      keys += order
    } else if let ranged {
      keys.append(SortKey(PropertyPath(ranged.name)))
    }
    let numbers = keys.compactMap { entity.attribute(named: $0.path.names[0])?.number }
    let isThere = entity.indexShapes.contains {
      $0.columns.prefix(numbers.count).map(\.property) == numbers && !$0.isUnique && !$0.isBox
        && $0.tests.isEmpty
    }
    return keys.isEmpty || isThere ? nil : keys
  }
}
