extension Condition {
  /// The paths that the condition asks for.
  package var paths: [PropertyPath] {
    var result: [PropertyPath] = []
    _ = containsPath {
      result.append($0)
      return false
    }
    return result
  }

  /// Whether the condition asks for a path of which `test` is true.
  package func containsPath(where test: (PropertyPath) -> Bool) -> Bool {
    switch form {
    case .constant: false
    case .isNil(let path), .comparison(let path, _, _), .isIn(let path, _),
      .isBetween(let path, _, _), .text(let path, _):
      test(path)
    case .all(let parts), .any(let parts): parts.contains { $0.containsPath(where: test) }
    case .not(let part): part.containsPath(where: test)
    }
  }

  /// The same condition with other paths.
  package func mapPaths(_ path: (PropertyPath) -> PropertyPath) -> Condition {
    switch form {
    case .constant: self
    case .isNil(let old): .isNil(path(old))
    case .comparison(let old, let comparison, let value): .compare(path(old), comparison, value)
    case .isIn(let old, let values): .isIn(path(old), values)
    case .isBetween(let old, let low, let high): .isBetween(path(old), low, high)
    case .text(let old, let test): .text(path(old), test.match, test.text, test.options)
    case .all(let parts): .all(parts.map { $0.mapPaths(path) })
    case .any(let parts): .any(parts.map { $0.mapPaths(path) })
    case .not(let part): part.mapPaths(path).negated
    }
  }
}
