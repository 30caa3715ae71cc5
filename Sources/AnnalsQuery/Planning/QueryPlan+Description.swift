import AnnalsModel
import AnnalsState

extension QueryPlan: CustomStringConvertible {
  /// The plan in words: what serves the query and how many objects are read, why other indexes do
  /// not, and which index would help if none serves.
  package var description: String {
    var lines: [String] = []
    if let path, let related = path.related {
      let kind = path.view.shape.kind.title
      lines.append(
        "begins with \(related.path), by \(kind) `\(path.name)`: \(path.count) of "
          + "\(related.count), and goes to those of the \(count) objects that have them")
      if path.rest != .always { lines.append("each is asked: \(path.rest)") }
    } else if let path {
      let kind = path.view.shape.kind.title
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
    if let (kind, keys) = advice {
      let title = kind.word == nil ? "an index" : "a \(kind.title)"
      lines.append("\(title) of `\(keys)` would help")
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
}
