import AnnalsModel
import AnnalsState

// An index holds values as stored. It serves a path with a replacement only where it shows that no
// object needs one.

extension RowQuery {
  /// The query without the replacements that no object needs, as an index that begins with the
  /// property shows. O(log n) for each property with a replacement.
  func withoutIdleReplacements(in state: State) throws(StateFault) -> RowQuery {
    let isReplaced = { (path: PropertyPath) in path.replacement != nil }
    guard condition.containsPath(where: isReplaced) || keys.contains(where: { isReplaced($0.path) })
    else { return self }
    var idle: [PropertyPath] = []
    for path in condition.paths + keys.map(\.path) where isReplaced(path) {
      if !idle.contains(path), try path.isReplacementIdle(entity, in: state) { idle.append(path) }
    }
    guard !idle.isEmpty else { return self }
    func plain(_ path: PropertyPath) -> PropertyPath {
      idle.contains(path) ? path.replacing(nil) : path
    }
    var query = self
    query.condition = condition.mapPaths(plain)
    for index in keys.indices { query.keys[index].path = plain(keys[index].path) }
    return query
  }
}

extension PropertyPath {
  /// Whether an index shows that no object of an entity needs the replacement. O(log n).
  func isReplacementIdle(_ number: EntityNumber, in state: State) throws(StateFault) -> Bool {
    guard let replacement, replacement.lackedType == nil, names.count == 1,
      let entity = state.schema.entity(numbered: number),
      let attribute = entity.attribute(named: names[0])
    else { return false }
    for shape in entity.indexShapes where shape.columns.first?.property == attribute.number {
      guard shape.tests.isEmpty, shape.kind.givesOrder,
        let view = try state.index(number, shape.number), view.shape == shape
      else { continue }
      if shape.isUnique {
        if view.count == state.count(of: number) { return true }
        continue
      }
      var isNeeded = false
      for (value, other) in [(Value.null, replacement.missing), (.erased, replacement.erased)]
      where !other.isNull {
        let before = IndexBound(values: [value], isAfter: false)
        if try view.count(from: before, to: IndexBound(values: [value], isAfter: true)) > 0 {
          isNeeded = true
        }
      }
      if !isNeeded { return true }
    }
    return false
  }
}
