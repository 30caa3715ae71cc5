extension Condition {
  /// The paths from the object itself that the condition uses, in the condition's order.
  package var paths: [PropertyPath] {
    var result: [PropertyPath] = []
    _ = containsPath {
      result.append($0)
      return false
    }
    return result
  }

  /// Whether the condition uses a path from the object itself of which `test` is true.
  package func containsPath(where test: (PropertyPath) -> Bool) -> Bool {
    switch form {
    case .all(let parts), .any(let parts): parts.contains { $0.containsPath(where: test) }
    case .not(let part): part.containsPath(where: test)
    default: path.map(test) ?? false
    }
  }

  /// The path of a single test; nil for a constant, and for what combines conditions.
  package var path: PropertyPath? {
    switch form {
    case .isNil(let path), .comparison(let path, _, _), .isIn(let path, _),
      .isBetween(let path, _, _), .text(let path, _), .contains(let path, _), .some(let path, _),
      .count(let path, _, _):
      path
    case .constant, .all, .any, .not: nil
    }
  }

  /// The path of a test that no object without a value passes.
  package var pathOfValue: PropertyPath? {
    // A sum has a value where there is no object.
    if path?.functionPlace != nil { return nil }
    return switch form {
    case .comparison(let path, let comparison, let value):
      comparison == .notEqual || value.isNull ? nil : path
    case .isIn(let path, let values): values.contains(where: \.isNull) ? nil : path
    case .isBetween(let path, _, _), .text(let path, _): path
    case .constant, .isNil, .contains, .some, .count, .all, .any, .not: nil
    }
  }

  /// What the result depends on, in the condition's order. O(size of the condition).
  package var dependencies: [PathDependency] {
    switch form {
    case .constant: []
    case .contains(let path, _): [PathDependency(path, isListed: true)]
    case .some(let path, let condition):
      [PathDependency(path)]
        + condition.dependencies.map {
          PathDependency(PropertyPath(path.names + $0.path.names), isListed: $0.isListed)
        }
    case .all(let parts), .any(let parts): parts.flatMap(\.dependencies)
    case .not(let part): part.dependencies
    default: path.map { [PathDependency($0)] } ?? []
    }
  }

  /// The same condition with other paths from the object itself.
  package func mapPaths(_ path: (PropertyPath) -> PropertyPath) -> Condition {
    switch form {
    case .constant: self
    case .isNil(let old): .isNil(path(old))
    case .comparison(let old, let comparison, let value): .compare(path(old), comparison, value)
    case .isIn(let old, let values): .isIn(path(old), values)
    case .isBetween(let old, let low, let high): .isBetween(path(old), low, high)
    case .text(let old, let test): .text(path(old), test.match, test.text, test.options)
    case .contains(let old, let object): .contains(path(old), object)
    case .some(let old, let condition): .any(path(old), condition)
    case .count(let old, let comparison, let count): .count(path(old), comparison, Int(count))
    case .all(let parts): .all(parts.map { $0.mapPaths(path) })
    case .any(let parts): .any(parts.map { $0.mapPaths(path) })
    case .not(let part): part.mapPaths(path).negated
    }
  }
}
