import Annals
import AnnalsModel

extension Asking {
  /// The net difference of two states: counts by entity, and a page of the changes.
  package func difference() throws -> DifferenceDocument {
    let store = try opened()
    let version = store.version
    let from = try store.number(try parameters.required("from"), parameter: "from")
    let to = try store.number(parameters["to"], parameter: "to")
    let (offset, limit) = (try offset(), try limit())
    let only = parameters["entity"]
    let showing = changeShowing(of: store, cut: try cut())
    var counts: [EntityNumber: DifferenceDocument.Counts] = [:]
    var (total, passed, changes) = (0, 0, [ShownChange]())
    try version.forEachDifference(from: from, to: to) { difference in
      passed += 1
      if passed.isMultiple(of: 256) { try cancellation.check() }
      let entity = difference.change.entityName
      counts[
        difference.change.entry.entity, default: DifferenceDocument.Counts(entity: entity)
      ].add(difference)
      if let only, !only.hasSameBytes(as: entity) { return }
      total += 1
      guard total > offset, changes.count < limit else { return }
      changes.append(try showing.shown(difference))
    }
    return DifferenceDocument(
      from: try store.moment(from), to: try store.moment(to),
      entities: counts.values.sorted { $0.entity.precedesInBytes($1.entity) }, changes: changes,
      offset: offset, total: total, progress: 1,
      command: command("diff").adding("\(from)", "\(to)").option("entity", only).text)
  }
}

extension DifferenceDocument.Counts {
  fileprivate mutating func add(_ difference: ObjectDifference) {
    if difference.successor != nil {
      replaces = (replaces ?? 0) + 1
      return
    }
    switch difference.change.kind {
    case .insert: inserts += 1
    case .update: updates += 1
    case .delete: deletes += 1
    }
  }
}
