import AnnalsModel
import AnnalsState

// A reference index serves conditions that name the objects to be referred to: `timeline == x`,
// `tags CONTAINS x`, one of several by OR or IN.

extension IndexPath {
  /// Nil if no part of the condition names all the objects that the relationship may lead to.
  init?(
    references query: RowQuery, _ shape: IndexShape, name: String, of entity: Entity,
    in state: State, implied: [Condition]
  ) throws(StateFault) {
    let parts = query.condition.conjuncts
    guard let relationship = entity.relationships.first(where: { $0.number == shape.number }),
      let view = try state.index(query.entity, shape.number)
    else { return nil }
    var best: (targets: Set<Int64>, count: Int, place: Int)?
    for (place, part) in (parts + implied).enumerated() {
      guard let targets = part.targets(of: relationship) else { continue }
      var count = 0
      for target in targets { count += try view.countOfReferrers(to: target) }
      if best.map({ count < $0.count }) ?? true { best = (targets, count, place) }
    }
    guard let (targets, count, place) = best else { return nil }
    var areThere = true
    for target in targets where areThere {
      areThere = try state.contains(relationship.destination, target)
    }
    self.init(
      Search(
        count: { () throws(StateFault) in try view.referrers(to: targets).count },
        rows: { () throws(StateFault) in try view.referrers(to: targets) }),
      count: count, name: name, view,
      rest: parts.indices.filter { $0 != place || !parts[$0].isOfIDs(thatAreThere: areThere) }
        .map { parts[$0] })
  }
}

extension Condition {
  /// Whether it says no more than that a list has one of some ids, or that a reference leads to one
  /// of some objects that are there. (A to-one reference to a deleted object is in the index, and
  /// leads nowhere.)
  fileprivate func isOfIDs(thatAreThere areThere: Bool) -> Bool {
    switch form {
    case .contains: true
    case .comparison, .isIn: areThere
    case .any(let parts): parts.allSatisfy { $0.isOfIDs(thatAreThere: areThere) }
    default: false
    }
  }

  /// The most objects that an index is asked for.
  private static let mostTargets = 256

  /// The rows of the objects to one of which the relationship leads wherever the condition is true;
  /// nil if it does not say so.
  fileprivate func targets(of relationship: Relationship) -> Set<Int64>? {
    func isOwn(_ path: PropertyPath) -> Bool {
      path.names.count == 1 && path.names[0].hasSameBytes(as: relationship.name)
    }
    func rows(_ objects: [ObjectReference]) -> Set<Int64> {
      Set(objects.lazy.filter { $0.entity == relationship.destination }.map(\.row))
    }
    switch form {
    case .comparison(let path, .equal, .object(let object))
    where isOwn(path) && !relationship.isToMany:
      return rows([object])
    case .contains(let path, let object) where isOwn(path): return rows([object])
    case .isIn(let path, let values) where isOwn(path) && !relationship.isToMany:
      let objects = values.flatMap(\.targets)
      return objects.count == values.count && objects.count <= Condition.mostTargets
        ? rows(objects) : nil
    case .any(let parts):
      guard parts.count <= Condition.mostTargets else { return nil }
      var all: Set<Int64> = []
      for part in parts {
        guard let some = part.targets(of: relationship) else { return nil }
        all.formUnion(some)
      }
      return all
    case .all(let parts):
      return parts.lazy.compactMap { $0.targets(of: relationship) }.min { $0.count < $1.count }
    default: return nil
    }
  }
}

extension IndexView {
  /// The rows that refer to one of these, rising, each once.
  fileprivate func referrers(to targets: Set<Int64>) throws(StateFault) -> [Int64] {
    if let only = targets.first, targets.count == 1 { return try referrers(to: only) }
    var rows: Set<Int64> = []
    for target in targets { rows.formUnion(try referrers(to: target)) }
    return rows.sorted()
  }
}
