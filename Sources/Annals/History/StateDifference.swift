import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState

/// The net difference between two states of a store: one change an object, whatever happened in
/// between.
public struct StateDifference: Sendable {
  /// The position of the first state.
  public let from: Token
  /// The position of the second state.
  public let to: Token
  /// What turns the first state into the second, by entity and id. Empty if they are equal.
  public let changes: [Change]
}

extension Store {
  /// The net difference between the states as of two positions, in either order of time. Properties
  /// have the names of the later schema; what it has removed is left out.
  ///
  /// Costs what the transactions between them cost, and the two states. Throws as
  /// `history(after:before:where:)` does.
  public func diff(
    from first: any HistoryPosition, to second: (any HistoryPosition)? = nil
  ) throws(AnnalsError) -> StateDifference {
    let version = version
    let start = try version.number(at: first.historyPlace)
    var end = version.view.head.number
    if let second { end = try version.number(at: second.historyPlace) }
    let touched = try History(
      version: version, after: min(start, end), through: max(start, end), condition: .always
    ).objectIDs().map { ObjectReference(entity: $0.entity, row: $0.row) }.sorted()
    var old = try version.state(at: start)
    var new = try version.state(at: end)
    // What the earlier schema does not have yet is empty in its state, not missing.
    let schema = version.view.schema(at: max(start, end))
    if start < end { old.setSchema(schema) } else { new.setSchema(schema) }
    var batch = ChangeBatch()
    try AnnalsError.translating { () throws(StateFault) in
      for object in touched {
        let isChanged = try State.appendNetChange(
          object.entity, object.row, from: old, to: new, into: &batch)
        if isChanged, let entity = schema.entity(numbered: object.entity) {
          batch.leaveOut(entity.removedProperties)
        }
      }
    }
    var record = TransactionRecord(
      number: max(start, end), timestamp: Timestamp(microseconds: 0))
    record.changeCount = UInt32(batch.changes.count)
    batch.transactions = [record]
    let page = TransactionPage(batch: batch, glossary: version.glossary())
    return StateDifference(
      from: try version.token(of: start), to: try version.token(of: end),
      changes: batch.changes.indices.map { Change(page: page, transaction: 0, index: $0) })
  }
}

extension ChangeBatch {
  /// Takes properties out of the last change, and an update of which nothing is left.
  fileprivate mutating func leaveOut(_ removed: Set<PropertyNumber>) {
    guard !removed.isEmpty, let change = changes.popLast() else { return }
    let kept = properties[change.propertyRange].filter { !removed.contains($0.property) }
    properties.removeLast(change.propertyRange.count)
    if kept.isEmpty, change.kind == .update { return }
    changes.append(
      ChangeEntry(
        kind: change.kind, entity: change.entity, row: change.row,
        firstProperty: properties.count, propertyCount: kept.count))
    properties += kept
  }
}
