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
    let newest = version.snapshot.reader
    let showing = ChangeShowing(
      values: ValueShowing(cut: try cut(), newest.largeValues), newest: newest)
    var counts: [EntityNumber: DifferenceDocument.Counts] = [:]
    var (total, passed, changes) = (0, 0, [ShownChange]())
    try version.forEachNamedDifference(from: from, to: to) { change, state in
      passed += 1
      if passed.isMultiple(of: 256) { try cancellation.check() }
      let entity = change.entityName
      counts[change.entry.entity, default: DifferenceDocument.Counts(entity: entity)]
        .add(change.kind)
      if let only, !only.hasSameBytes(as: entity) { return }
      total += 1
      guard total > offset, changes.count < limit else { return }
      changes.append(try showing.shown(change) { () throws(AnnalsError) in state })
    }
    return DifferenceDocument(
      from: try store.moment(from), to: try store.moment(to),
      entities: counts.values.sorted { $0.entity.precedesInBytes($1.entity) }, changes: changes,
      offset: offset, total: total, progress: 1,
      command: command("diff").adding("\(from)", "\(to)").text)
  }
}

extension StoreVersion {
  /// Calls `body` with each change of the net difference, and the state that has the names in it.
  package func forEachNamedDifference(
    from: Int64, to: Int64, _ body: (Change, StateReader) throws -> Void
  ) throws {
    try forEachDifference(from: from, to: to) { change, old, new in
      // A deleted object has its name in the state before.
      try body(change, change.kind == .delete ? old : new)
    }
  }
}

extension DifferenceDocument.Counts {
  fileprivate mutating func add(_ kind: ChangeKind) {
    switch kind {
    case .insert: inserts += 1
    case .update: updates += 1
    case .delete: deletes += 1
    }
  }
}
