import Annals
import AnnalsLog
import AnnalsModel
import AnnalsTestSupport
import Testing

/// What the logical half of a verification finds in files whose bytes are in order.
@Suite struct VerifyTests {
  /// What is found in a store of two notes and, behind them, a transaction that no store would
  /// write.
  private func findings(
    _ kind: ChangeKind, row: Int64, _ values: [PropertyValues]
  ) throws -> [String] {
    let location = memoryFile()
    let notes = try noteStore(location)
    try notes.note("a", text: "one")
    try notes.note("b", text: "two")
    try notes.close()
    try LogFile.write(to: location.path, in: location.fileSystem) { log in
      var batch = ChangeBatch(kind, 1, row, values)
      _ = try log.append(TransactionEnvelope(timestamp: Timestamp(microseconds: 1)), &batch)
    }
    return try Store(location, creates: false).verifyHistory().map(\.message)
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

  /// An earlier version, which does not know that a relationship may be required, can leave it out.
  @Test func everyObjectHasWhatIsRequired() throws {
    let location = memoryFile()
    let schema = Schema {
      Entity("Line") { Attribute("id", .string) }
      Entity("Stop") { Relationship("line", to: "Line", isOptional: false) }
    }
    let store = try Store(location, schema: schema)
    try store.write { tx in
      let line = try tx.insert("Line", [:])
      try tx.insert("Stop", ["line": .object(ObjectReference(line))])
    }
    try store.close()
    #expect(try Store(location, creates: false).verifyHistory() == [])
    try LogFile.write(to: location.path, in: location.fileSystem) { log in
      for row in [2, 3] as [Int64] {
        var batch = ChangeBatch(.insert, 2, row, [])
        _ = try log.append(TransactionEnvelope(timestamp: Timestamp(microseconds: 1)), &batch)
      }
    }
    let found = try Store(location, creates: false).verifyHistory()
    #expect(
      found.map(\.message) == [
        "2 objects of Stop, the first is Stop#2, have no line, which every one must have. Set it, "
          + "or declare it optional"
      ])
    #expect(found.map(\.severity) == [.warning])
  }

  /// So can it leave out the objects of a relationship that has at least some.
  @Test func everyListIsWithinItsLimits() throws {
    let location = memoryFile()
    let schema = Schema {
      Entity("Line") { Attribute("id", .string) }
      Entity("Stop") { Relationship("lines", to: "Line", isToMany: true, count: 1...4) }
    }
    let store = try Store(location, schema: schema)
    try store.write { try $0.insert("Line", [:]) }
    try store.close()
    #expect(try Store(location, creates: false).verifyHistory() == [])
    try LogFile.write(to: location.path, in: location.fileSystem) { log in
      var batch = ChangeBatch(.insert, 2, 1, [])
      _ = try log.append(TransactionEnvelope(timestamp: Timestamp(microseconds: 1)), &batch)
    }
    let found = try Store(location, creates: false).verifyHistory()
    #expect(
      found.map(\.message) == [
        "1 object of Stop, the first is Stop#1, refers by lines to more or fewer objects than the "
          + "rule says, at least 1 and at most 4. Add or remove some"
      ])
    #expect(found.map(\.severity) == [.warning])
  }
}
