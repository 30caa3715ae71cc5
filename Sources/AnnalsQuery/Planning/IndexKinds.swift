import AnnalsModel
import AnnalsState

// What each kind of index serves, and of which kind one would help.

extension IndexPath {
  /// How an index of any kind serves a query; see the initialisers.
  static func serving(
    _ query: RowQuery, _ shape: IndexShape, name: String, of entity: Entity, in state: State,
    implied: [Condition]
  ) throws(StateFault) -> IndexPath? {
    switch shape.kind {
    case .ordered:
      try IndexPath(query, shape, name: name, of: entity, in: state, implied: implied)
    case .box:
      try IndexPath(box: query, shape, name: name, of: entity, in: state, implied: implied)
    case .references:
      try IndexPath(
        references: query, shape, name: name, of: entity, in: state, implied: implied)
    }
  }
}

extension QueryPlan {
  /// The kind and the keys of an index that would help; nil if none would.
  var advice: (kind: IndexKind, keys: String)? {
    if let columns = boxColumns {
      return needsBox(of: columns) ? (.box, columns.map(\.name).joined(separator: ",")) : nil
    }
    return helpful.map { (.ordered, $0.map(\.description).joined(separator: ",")) }
  }

  /// How many objects an index may leave before another kind of index would help.
  private static let worthwhile = 512

  /// The attributes of a box index that would narrow the query; nil if it does not leave a range of
  /// several. A single value is better served by an index that begins with it.
  private var boxColumns: [Attribute]? {
    let ranges = ColumnRange.ranges(query.condition.conjuncts, of: entity)
    guard ranges.values.allSatisfy({ $0.single == nil }) else { return nil }
    let columns = entity.attributes.filter {
      ranges[$0.number] != nil && IndexKind.box.covers($0.type)
    }
    return IndexKind.box.propertyCounts?.range.contains(columns.count) == true ? columns : nil
  }

  /// Whether no box index has two of these attributes, and what serves leaves many objects.
  private func needsBox(of columns: [Attribute]) -> Bool {
    let numbers = Set(columns.map(\.number))
    let isThere = entity.indexShapes.contains {
      $0.kind == .box && $0.tests.isEmpty
        && numbers.intersection($0.columns.map(\.property)).count > 1
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
      key.path.names.count == 1 && key.textOrder == .binary && key.order.isEmpty
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
      $0.columns.prefix(numbers.count).map(\.property) == numbers && !$0.isUnique
        && $0.kind.givesOrder && $0.tests.isEmpty
    }
    return keys.isEmpty || isThere ? nil : keys
  }
}
