import AnnalsModel
import AnnalsState

extension QueryPlan {
  /// The most objects that a condition through a relationship may match for an index to find the
  /// objects that refer to them.
  private static let mostTargets = 128

  /// The most relationships on a path.
  private static let longestPath = 4

  /// Conditions implied by those on related objects: the references that objects must have.
  ///
  /// Only if an index finds the related objects, and another may find those that refer to them.
  static func implied(
    _ query: RowQuery, _ entity: Entity, in state: State, _ sources: ConditionSources
  ) throws(Failure) -> [Condition] {
    guard query.indexes != .none else { return [] }
    var result: [Condition] = []
    for part in query.condition.conjuncts {
      guard let path = part.pathOfValue, (2...longestPath).contains(path.names.count),
        let relationship = entity.relationship(named: path.names[0]), !relationship.isToMany,
        entity.indexShapes.contains(where: { shape in
          shape.columns.contains { $0.property == relationship.number }
        })
      else { continue }
      let behind = part.replacingPath(path.next)
      let targets = try QueryPlan(
        RowQuery(entity: relationship.destination, condition: behind), in: state, sources)
      guard let found = targets.path, found.count <= mostTargets else { continue }
      let place = PropertyPath(path.names[0])
      let conditions = try targets.rows().map { row in
        Condition.compare(
          place, .equal, .object(ObjectReference(entity: relationship.destination, row: row)))
      }
      if !conditions.isEmpty { result.append(.any(conditions)) }
    }
    return result
  }
}

extension Condition {
  /// The path of a test that no object without a value passes.
  fileprivate var pathOfValue: PropertyPath? {
    switch form {
    case .comparison(let path, let comparison, let value):
      comparison == .notEqual || value.isNull ? nil : path
    case .isIn(let path, let values): values.contains { $0.isNull } ? nil : path
    case .isBetween(let path, _, _), .text(let path, _): path
    case .constant, .isNil, .all, .any, .not: nil
    }
  }

  /// The same test of another path.
  fileprivate func replacingPath(_ path: PropertyPath) -> Condition {
    switch form {
    case .comparison(_, let comparison, let value): .compare(path, comparison, value)
    case .isIn(_, let values): .isIn(path, values)
    case .isBetween(_, let low, let high): .isBetween(path, low, high)
    case .text(_, let test): .text(path, test.match, test.text, test.options)
    case .constant, .isNil, .all, .any, .not: self
    }
  }
}
