import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Changes are undone without reading the columns that they touch: these are edited, and the edits
/// made when somebody reads.
@Suite struct EditedColumnTests {
  @Test(arguments: isLong ? [31, 32, 33, 34] : [31, 32] as [UInt64])
  func `a state taken back from a checkpoint agrees with dictionaries`(seed: UInt64) throws {
    var run = ModelRun(seed: seed, isUnique: false)
    var models = [run.model]
    for step in 0..<50 {
      try run.transact("seed \(seed), step \(step)")
      models.append(run.model)
    }
    let chunks = MemoryChunks()
    var saved = run.state
    let directory = try saved.save(to: chunks)
    let newest = try State(directory: directory, source: chunks)
    var state = newest
    var kept: [(State, NaiveState)] = []
    for step in run.history.indices.reversed() {
      let comment: Comment = "seed \(seed), back to \(step)"
      let batch = run.history[step]
      try state.apply(batch, changes: 0..<batch.changes.count, direction: .backward)
      // What was read, kept or written is edited further all the same.
      switch run.random.below(6) {
      case 0: try models[step].expectEqual(state, comment)
      case 1: kept.append((state, models[step]))
      case 2: #expect(try state.invariantViolations() == [], comment)
      case 3: try expectSaved(state, models[step], full: step % 2 == 0, chunks, comment)
      case 4: _ = try state.readEdited()
      default: break
      }
    }
    for (state, model) in kept { try model.expectEqual(state, "seed \(seed), kept") }
    for (state, model) in kept { try expectSaved(state, model, full: true, chunks, "kept") }
    try run.model.expectEqual(newest, "seed \(seed), newest")
    #expect(state.count(of: 1) == 0)
    #expect(try state.invariantViolations() == [])
    for batch in run.history { try state.apply(batch) }
    try run.model.expectEqual(state, "seed \(seed), forward again")
  }

  /// Writes a state, and compares what was written and what wrote it.
  private func expectSaved(
    _ state: State, _ model: NaiveState, full: Bool, _ chunks: MemoryChunks, _ comment: Comment
  ) throws {
    var copy = state
    let target = full ? MemoryChunks() : chunks
    let directory = try copy.save(to: target, full: full)
    try model.expectEqual(try State(directory: directory, source: target), comment)
    try model.expectEqual(copy, comment)
    #expect(try copy.invariantViolations() == [], comment)
  }

  // MARK: What is read

  /// 9,000 objects in three groups with a number and a text, as a checkpoint has them.
  private func makeStored() throws -> (State, MemoryChunks) {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64, .string])]))
    for _ in 0..<9_000 {
      let row = try state.insertRow(1)
      try state.set(1, row, 1, to: .int(row))
      try state.set(1, row, 2, to: .string("text \(row)"))
    }
    let chunks = MemoryChunks()
    let stored = try State(directory: try state.save(to: chunks), source: chunks)
    chunks.forgetReads()
    return (stored, chunks)
  }

  private func takeBack(_ state: inout State, _ batch: ChangeBatch) throws {
    try state.apply(batch, changes: 0..<batch.changes.count, direction: .backward)
  }

  @Test func `undoing reads no column, and reading one reads it alone`() throws {
    let (newest, chunks) = try makeStored()
    var batch = ChangeBatch()
    batch.append(.update, 1, 5, [(2, .string("before"), .string("text 5"))])
    batch.append(.update, 1, 5_000, [(1, .int(-1), .int(5_000)), (2, .null, .string("text 5000"))])
    batch.append(.insert, 1, 9_000, [(1, .null, .int(9_000)), (2, .null, .string("text 9000"))])
    var past = newest
    try takeBack(&past, batch)
    // The bits of which rows live, of three groups.
    #expect(chunks.reads.count == 3)
    #expect(past.count(of: 1) == 8_999)
    chunks.forgetReads()
    #expect(try past.value(1, 5, 2) == .string("before"))
    #expect(try past.value(1, 6, 2) == .string("text 6"))
    #expect(chunks.reads.count == 1)
    #expect(try past.value(1, 5_000, 1) == .int(-1))
    #expect(try past.value(1, 5_000, 2) == .null)
    #expect(try past.value(1, 5_001, 2) == .string("text 5001"))
    #expect(try past.value(1, 9_000, 2) == .null)
    #expect(chunks.reads.count == 4)
    // What was read for the past serves the newest state.
    #expect(try newest.value(1, 5, 2) == .string("text 5"))
    #expect(try newest.value(1, 9_000, 2) == .string("text 9000"))
    #expect(chunks.reads.count == 4)
  }

  @Test func `a change that does not fit is refused at once`() throws {
    let (newest, _) = try makeStored()
    var wrong = ChangeBatch()
    wrong.append(.update, 1, 5, [(2, .int(7), .string("text 5"))])
    var missing = ChangeBatch()
    missing.append(.update, 1, 9_001, [(2, .string("before"), .string("after"))])
    for batch in [wrong, missing] {
      var past = newest
      #expect(throws: StateFault.self) { try takeBack(&past, batch) }
    }
  }

  @Test func `a column with very many edits is read`() throws {
    let (newest, chunks) = try makeStored()
    var past = newest
    for step in (0..<5_000).reversed() {
      var batch = ChangeBatch()
      batch.append(
        .update, 1, Int64(step % 3 + 1), [(2, .string("at \(step)"), .string("at \(step + 3)"))])
      try takeBack(&past, batch)
    }
    #expect(chunks.reads.count == 2)
    for row: Int64 in 1...3 { #expect(try past.value(1, row, 2) == .string("at \(row - 1)")) }
    #expect(try past.value(1, 4, 2) == .string("text 4"))
  }

  /// Of several changes of one property that are undone before it is read, the oldest counts.
  @Test func `the last edit of a row overtakes those before`() throws {
    let (newest, chunks) = try makeStored()
    var past = newest
    for step in (0..<6).reversed() {
      var batch = ChangeBatch()
      for row: Int64 in [3, 200, 300, 5_000] {
        // The number is cleared in turns, and so is the text, in the others.
        let number: (Int) -> Value = { $0 % 2 == 0 ? .int(Int64($0)) : .null }
        let text: (Int) -> Value = { $0 % 3 == 1 ? .null : .string("\(row) at \($0)") }
        batch.append(
          .update, 1, row,
          [(1, number(step), number(step + 1)), (2, text(step), text(step + 1))])
      }
      try takeBack(&past, batch)
      if step == 4 {
        #expect(try past.value(1, 300, 1) == .int(4))
        #expect(try past.value(1, 300, 2) == .null)
      }
    }
    for row: Int64 in [3, 200, 300, 5_000] {
      #expect(try past.value(1, row, 1) == .int(0))
      #expect(try past.value(1, row, 2) == .string("\(row) at 0"))
      #expect(try past.value(1, row + 1, 2) == .string("text \(row + 1)"))
    }
    #expect(chunks.reads.count == 6)
  }

  @Test func `a state and its copies are edited apart`() throws {
    let (newest, _) = try makeStored()
    var states = [newest]
    for step in 1...200 {
      var batch = ChangeBatch()
      batch.append(.update, 1, Int64(step), [(2, .string("edit \(step)"), .string("text \(step)"))])
      var next = states[step - 1]
      try takeBack(&next, batch)
      states.append(next)
      if step % 50 == 0 { #expect(try next.value(1, 1, 2) == .string("edit 1")) }
    }
    for (step, state) in states.enumerated() {
      for row in [1, step, step + 1] where row >= 1 {
        let text = row <= step ? "edit \(row)" : "text \(row)"
        #expect(try state.value(1, Int64(row), 2) == .string(text), "\(step)")
      }
    }
  }

  @Test func `net changes between a past state and the newest read once what differs`() throws {
    let (newest, chunks) = try makeStored()
    var past = newest
    var batch = ChangeBatch()
    for row: Int64 in 100...200 {
      batch.append(.update, 1, row, [(2, .string("before"), .string("text \(row)"))])
    }
    try takeBack(&past, batch)
    for (old, new) in [(past, newest), (newest, past)] {
      chunks.forgetReads()
      var changes = NetChanges(from: old, to: new, isPassing: true)
      var found = ChangeBatch()
      for row: Int64 in 1...4_096 {
        _ = try changes.append(ObjectReference(entity: 1, row: row), to: &found)
      }
      #expect(found.changes.map(\.row) == Array(100...200))
      // Of two columns one has changed.
      #expect(chunks.reads.count == 1)
    }
  }

  // MARK: Large values

  @Test func `large values are found by group as they are one by one`() throws {
    var run = ModelRun(seed: 35, isUnique: false)
    for step in 0..<40 { try run.transact("step \(step)") }
    let table = try #require(run.state.table(1))
    let columns = ModelSchema.properties.compactMap { table.column(of: $0) }
    var expected: [String] = []
    var rows = table.rows
    while let row = try rows.next() {
      for (index, column) in columns.enumerated() {
        guard case .large(let value) = try table.value(row, column: column) else { continue }
        expected.append("\(row) \(index) \(value.number)")
      }
    }
    var found: [String] = []
    try table.forEachLargeValue(of: columns) { found.append("\($0) \($1) \($2.number)") }
    #expect(found == expected)
    #expect(!found.isEmpty)
  }
}
