import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Testing

/// What the logical half of a verification finds in files whose bytes are in order.
@Suite struct VerifyTests {
  /// A store of two notes, and behind them a transaction that no store would write.
  private func store(
    with change: (ChangeKind, row: Int64, [(PropertyNumber, before: Value, after: Value)])
  ) throws -> Store {
    let location = memoryFile()
    let notes = try noteStore(location)
    try notes.note("a", text: "one")
    try notes.note("b", text: "two")
    try notes.close()
    let log = try LogFile.open(
      at: location.path, in: location.fileSystem,
      LogOptions(
        access: .writing, durability: .full,
        opening: Opening(number: 0, id: 5, processName: "odd", processID: 1)),
      restore: { _ in }, apply: { $0.removeAll() })
    var batch = ChangeBatch()
    for (number, before, after) in change.2 {
      let before = ValueCell(before, appendingTo: &batch.arena)
      let after = ValueCell(after, appendingTo: &batch.arena)
      batch.properties.append(PropertyChange(property: number, before: before, after: after))
    }
    batch.changes.append(
      ChangeEntry(
        kind: change.0, entity: 1, row: change.row, firstProperty: 0,
        propertyCount: batch.properties.count))
    _ = try log.lock(.none)
    _ = try log.append(
      TransactionDraft(timestamp: Timestamp(microseconds: 1), author: nil, context: nil), &batch)
    try log.close()
    return try Store(location, creates: false)
  }

  private func findings(
    _ kind: ChangeKind, row: Int64, _ properties: [(PropertyNumber, before: Value, after: Value)]
  ) throws -> [String] {
    try store(with: (kind, row, properties)).verifyHistory().map(\.message)
  }

  @Test func valuesBeforeAreThoseThatWere() throws {
    #expect(try findings(.update, row: 1, [(2, .string("one"), .string("x"))]) == [])
    let update = try findings(.update, row: 1, [(2, .string("never"), .string("x"))])
    #expect(update.count == 1)
    #expect(update.first?.contains("says that text of Note#1 was otherwise") == true, "\(update)")
    #expect(
      try findings(.delete, row: 2, [(1, .string("b"), .null), (2, .string("two"), .null)]) == [])
    let delete = try findings(.delete, row: 2, [(1, .string("b"), .null)])
    // The value stays behind without its object, which is told as well.
    #expect(delete.contains { $0.contains("says that text of Note#2 was otherwise") }, "\(delete)")
  }

  @Test func uniqueValuesAreUnique() throws {
    #expect(try findings(.insert, row: 3, [(1, .null, .string("c"))]) == [])
    let twice = try findings(.insert, row: 3, [(1, .null, .string("b"))])
    #expect(twice.count == 1)
    #expect(twice.first?.contains("have the same id") == true, "\(twice)")
  }
}
