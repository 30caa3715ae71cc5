import AnnalsModel
import AnnalsState

// `ANY events.title == "x"`, where an index finds the events: begins with them, and goes to the
// objects that list them (by the reference index) or that they refer to (an inverse).

/// A path that begins with the objects of an `ANY`, and what asking each owner costs instead.
struct RelatedPath {
  let path: IndexPath
  /// How many objects or references are read, at most, if every owner is asked.
  let askingCost: Double

  /// For each part of the condition that asks any of several objects, the path that begins with
  /// these; none where no index finds them, or no reference index their owners.
  static func all(
    _ query: RowQuery, _ entity: Entity, in state: State, _ sources: ConditionSources
  ) throws(StateFault) -> [RelatedPath] {
    guard query.indexes == .automatic else { return [] }
    let parts = query.condition.conjuncts
    var result: [RelatedPath] = []
    for (place, part) in parts.enumerated() {
      guard case .some(let path, let condition) = part.form, path.names.count == 1,
        let owners = try RelatedOwners(path.names[0], of: entity, in: state)
      else { continue }
      let targets = try QueryPlan(
        RowQuery(entity: owners.target, condition: condition), in: state, sources)
      guard let found = targets.path else { continue }
      let rest = parts.indices.filter { $0 != place }.map { parts[$0] }
      let search = IndexPath.Search(
        count: { () throws(StateFault) in try owners.rows(of: targets).count },
        rows: { () throws(StateFault) in try owners.rows(of: targets) })
      result.append(
        RelatedPath(
          path: IndexPath(
            search, count: found.count, name: found.name, found.view, rest: rest,
            related: IndexPath.Related(path: path, count: targets.count)),
          askingCost: Double(try owners.countOfReferences())))
    }
    return result
  }
}

/// How to get from objects to those that list them, or to those that they refer to.
private struct RelatedOwners: Sendable {
  private enum Way: Sendable {
    /// The owners list the objects: who does is in the relationship's index.
    case listed(IndexView)
    /// The objects refer to their owners by this column.
    case referring(TableView, Int)
  }

  /// The entity of the objects.
  let target: EntityNumber
  private let owner: EntityNumber
  private let way: Way
  private let state: State

  /// Nil if the name is that of neither a relationship with an index nor an inverse.
  init?(_ name: String, of entity: Entity, in state: State) throws(StateFault) {
    owner = entity.number
    self.state = state
    if let relationship = entity.relationship(named: name) {
      guard relationship.isToMany, let view = try state.index(owner, relationship.number) else {
        return nil
      }
      (target, way) = (relationship.destination, .listed(view))
    } else {
      guard entity.propertyNumber(named: name) == nil,
        let (source, relationship) = state.schema.inverse(named: name, of: entity.number),
        let table = state.table(source.number), let column = table.column(of: relationship.number)
      else { return nil }
      (target, way) = (source.number, .referring(table, column))
    }
  }

  /// How many references there are, or more.
  func countOfReferences() throws(StateFault) -> Int {
    switch way {
    case .listed(let view): view.count
    case .referring: Int(state.count(of: target))
    }
  }

  /// The rows of the owners of what a plan finds, rising, each once. O(objects found and owners).
  func rows(of plan: QueryPlan) throws(StateFault) -> [Int64] {
    var owners: Set<Int64> = []
    for row in try plan.rows() {
      switch way {
      case .listed(let view): owners.formUnion(try view.referrers(to: row))
      case .referring(let table, let column):
        for object in try table.value(row, column: column).targets
        where object.entity == owner && !owners.contains(object.row) {
          // One that dangles leads to no owner.
          if try state.contains(owner, object.row) { owners.insert(object.row) }
        }
      }
    }
    return owners.sorted()
  }
}
