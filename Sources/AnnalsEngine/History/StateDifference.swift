import AnnalsLog
import AnnalsModel
import AnnalsState

/// The net difference between two states of a store: one change per object, whatever happened in
/// between.
public struct StateDifference: Sendable {
  /// The position of the first state.
  public let from: Token
  /// The position of the second state.
  public let to: Token
  /// The changes that turn the first state into the second, by entity and id. Empty if they are
  /// equal.
  public let changes: [Change]
}

extension StoreVersion {
  /// The net difference between the states after two transactions, in either order. As
  /// `Store.diff`.
  package func difference(
    from first: Int64, to second: Int64
  ) throws(AnnalsError) -> StateDifference {
    var cursor = try DifferenceCursor(self, from: first, to: second)
    var changes: [Change] = []
    while let page = try cursor.next() {
      changes += page.batch.changes.indices.map { Change(page: page, transaction: 0, index: $0) }
    }
    return StateDifference(
      from: try token(of: first), to: try token(of: second), changes: changes)
  }

  /// Calls `body` with each change of the difference in turn, with the states before and after,
  /// without keeping the changes.
  package func forEachDifference(
    from first: Int64, to second: Int64,
    _ body: (Change, _ old: StateReader, _ new: StateReader) throws -> Void
  ) throws {
    var cursor = try DifferenceCursor(self, from: first, to: second)
    let old = reader(of: cursor.old)
    let new = reader(of: cursor.new)
    while let page = try cursor.next() {
      for index in page.batch.changes.indices {
        try body(Change(page: page, transaction: 0, index: index), old, new)
      }
    }
  }
}

/// Compares the objects in which two states may differ, and returns the differences in pages of
/// about a megabyte. Holds one group of rows of a checkpoint at a time.
private struct DifferenceCursor {
  let start: Int64
  let end: Int64
  private(set) var old: State
  private(set) var new: State
  private let glossary: Glossary
  private var touched: [ObjectReference]
  private var place = 0
  private var changes: NetChanges

  /// The bytes of values, and the changes, that fill a page.
  private static let pageBytes = 1 << 20
  private static let pageChanges = 4_096

  init(
    _ version: StoreVersion, from start: Int64, to end: Int64
  ) throws(AnnalsError) {
    self.start = start
    self.end = end
    touched = try History(
      version: version, after: min(start, end), through: max(start, end), condition: .always
    ).objectIDs().map { ObjectReference(entity: $0.entity, row: $0.row) }.sorted()
    let naming = NamingProperties(version.view, andAllOf: Set(touched))
    let states = try version.states(at: min(start, end), and: max(start, end), keeping: naming)
    (old, new) = start < end ? states : (states.1, states.0)
    // What the earlier schema does not define yet is empty in its state, not missing.
    let schema = version.view.schema(at: max(start, end))
    if start < end { old.setSchema(schema) } else { new.setSchema(schema) }
    changes = NetChanges(from: old, to: new, isPassing: true)
    glossary = version.glossary()
  }

  /// The next page; nil after the last. No page is empty.
  mutating func next() throws(AnnalsError) -> TransactionPage? {
    var batch = ChangeBatch()
    try AnnalsError.translating {
      while place < touched.count, batch.arena.count < DifferenceCursor.pageBytes,
        batch.changes.count < DifferenceCursor.pageChanges
      {
        let object = touched[place]
        place += 1
        _ = try changes.append(object, to: &batch)
      }
    }
    guard !batch.changes.isEmpty else { return nil }
    var record = TransactionRecord(
      number: max(start, end), timestamp: Timestamp(microseconds: 0))
    record.changeCount = UInt32(batch.changes.count)
    batch.transactions = [record]
    return TransactionPage(batch: batch, glossary: glossary)
  }
}
