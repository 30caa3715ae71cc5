import AnnalsModel
import AnnalsState

extension QueryPlan: CustomStringConvertible {
  /// The plan in words: what serves and how many objects are looked at, why each other index does
  /// not, and which index would help if none serves.
  package var description: String {
    var lines: [String] = []
    if let path {
      lines.append("by index `\(path.name)`: \(path.places.count) of \(count) objects")
      if path.rest != .always { lines.append("each is asked: \(path.rest)") }
    } else {
      lines.append("reads all \(count) objects")
      if query.condition != .always { lines.append("each is asked: \(query.condition)") }
    }
    if !query.keys.isEmpty { lines.append(isInOrder ? "in order" : "then put in order") }
    for other in others {
      lines.append(
        "not by index `\(other.name)`: "
          + (other.cost == nil
            ? "it neither narrows this query nor has its order" : "it would cost more"))
    }
    if path == nil, let helpful { lines.append("an index of `\(helpful)` would help") }
    return lines.joined(separator: "\n")
  }

  /// The attribute of which an index would narrow the query or give its order.
  private var helpful: String? {
    guard count > 0 else { return nil }
    let ranges = ColumnRange.ranges(query.condition.conjuncts, of: entity)
    let sorted = query.keys.first.flatMap { key in
      key.path.names.count == 1 && key.textOrder == .binary
        ? entity.attribute(named: key.path.names[0]) : nil
    }
    let narrowing =
      entity.attributes.first { ranges[$0.number]?.single != nil }
      ?? entity.attributes.first { ranges[$0.number] != nil }
    let helpful = narrowing ?? sorted
    let isThere = entity.indexShapes.contains {
      $0.columns.first?.property == helpful?.number && !$0.isUnique
    }
    return isThere ? nil : helpful?.name
  }
}
