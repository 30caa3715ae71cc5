import AnnalsFormat
import AnnalsModel
import AnnalsState
import Testing

/// What is read in passing is not kept.
@Suite struct PassingTests {
  /// `diff` of a file of 3 MB took 843 MB: of both states all that it touched stayed in memory.
  @Test func netChangesForgetTheGroupsThatTheyHavePassed() throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64, .string])]))
    for _ in 0..<9_000 {
      let row = try state.insertRow(1)
      try state.set(1, row, 1, to: .int(row))
      try state.set(1, row, 2, to: .string("text \(row)"))
    }
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    let new = try State(directory: directory, source: chunks)
    let old = State(schema: state.schema)
    func readsOfChanges(_ old: State, _ new: State, isPassing: Bool) throws -> (Int, Int) {
      chunks.forgetReads()
      var changes = NetChanges(from: old, to: new, isPassing: isPassing)
      var count = 0
      for row: Int64 in 1...9_000 {
        var batch = ChangeBatch()
        if try changes.append(ObjectReference(entity: 1, row: row), to: &batch) { count += 1 }
      }
      return (count, chunks.reads.count)
    }
    // Three groups; the bits of which rows live stay, being few.
    #expect(try readsOfChanges(old, new, isPassing: true) == (9_000, 9))
    #expect(try readsOfChanges(old, new, isPassing: true) == (9_000, 6))
    // What both have in common is not read, and what another has read is used.
    #expect(try readsOfChanges(new, new, isPassing: true) == (0, 0))
    #expect(try readsOfChanges(old, new, isPassing: false) == (9_000, 6))
    #expect(try readsOfChanges(old, new, isPassing: true) == (9_000, 0))
    #expect(try State.firstDifference(state, new) == nil)
  }
}
