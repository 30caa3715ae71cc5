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
  ) throws(StateFault) -> [Condition] {
    guard query.indexes != .none else { return [] }
    var result: [Condition] = []
    for part in query.condition.conjuncts {
      guard let path = part.pathOfValue, (2...longestPath).contains(path.names.count),
        let relationship = entity.relationship(named: path.names[0]), !relationship.isToMany,
        entity.keptShapes.contains(where: { shape in
          shape.columns.contains { $0.property == relationship.number }
        })
      else { continue }
      let behind = part.mapPaths { _ in path.next }
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
