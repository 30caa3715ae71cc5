import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Leaves that are written in front of what a checkpoint holds of their column.
@Suite struct WrittenLeafTests {
  /// The chunks of the texts in a directory.
  private func texts(_ directory: CheckpointDirectory) -> [ChunkReference] {
    directory.entities[0].columns.first { $0.property == 2 }?.chunks ?? []
  }

  @Test func `a write reads a leaf, and a checkpoint writes it alone`() throws {
    var (state, chunks) = try LongTexts.makeStored()
    let before = try state.save(to: chunks)
    #expect(texts(before).count == 16)
    chunks.forgetReads()
    try state.set(1, 300, 2, to: .string("new"))
    // The bits of the rows, and a leaf.
    #expect(chunks.reads.count <= 2)
    let count = chunks.chunkCount
    #expect(state.unsavedByteEstimate < 200_000)
    let after = try state.save(to: chunks)
    #expect(chunks.chunkCount == count + 1)
    #expect(state.unsavedByteEstimate == 0)
    let changed = zip(texts(before), texts(after)).filter { $0 != $1 }
    #expect(texts(after).count == 16 && changed.map(\.0.first) == [257])
    for state in [state, try State(directory: after, source: chunks)] {
      for row in 1...LongTexts.rows {
        let text = row == 300 ? "new" : LongTexts.text(row)
        #expect(try state.value(1, row, 2) == .string(text))
        #expect(try state.value(1, row, 1) == .int(row))
      }
      #expect(try state.invariantViolations() == [])
    }
  }

  @Test func `values that are cleared do not come back`() throws {
    var (state, chunks) = try LongTexts.makeStored()
    let untouched = state
    for row in Int64(257)...512 { try state.set(1, row, 2, to: .null) }
    #expect(try state.value(1, 300, 2) == .null)
    #expect(try state.value(1, 513, 2) == .string(LongTexts.text(513)))
    #expect(try untouched.value(1, 300, 2) == .string(LongTexts.text(300)))
    var copy = state
    let directory = try copy.save(to: chunks)
    #expect(texts(directory).count == 15)
    for state in [state, copy, try State(directory: directory, source: chunks)] {
      #expect(try (Int64(257)...512).allSatisfy { try state.value(1, $0, 2) == .null })
      #expect(try state.value(1, 256, 2) == .string(LongTexts.text(256)))
      #expect(try state.invariantViolations() == [])
      #expect(try State.firstDifference(state, copy) == nil)
    }
    try state.set(1, 300, 2, to: .string("again"))
    #expect(try state.value(1, 300, 2) == .string("again"))
    #expect(try state.value(1, 301, 2) == .null)
  }

  /// Against dictionaries: values set, cleared leaf by leaf, objects deleted and inserted in runs,
  /// changes undone in copies, checkpoints and reloads on the way.
  @Test(arguments: isLong ? Array(1...60) : Array(1...8) as [UInt64])
  func `whatever was written is read`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model: [Int64: String] = [:]
    let chunks = MemoryChunks()
    var state = State(schema: LongTexts.schema)
    let length = [0, 80, 600][Int(seed % 3)]
    func insert(_ count: Int) throws {
      var batch = ChangeBatch()
      let first = state.nextRow(of: 1)
      for row in first..<first + Int64(count) {
        let text = random.below(4) == 0 ? nil : LongTexts.text(row, length: length)
        model[row] = text ?? ""
        batch.append(
          .insert, 1, row,
          [(1, .null, .int(row))] + (text.map { [(2, .null, .string($0))] } ?? []))
      }
      try state.apply(batch)
    }
    try insert(1_500)
    for step in 1...60 {
      let rows = model.keys.sorted()
      let row = rows[random.below(rows.count)]
      switch random.below(10) {
      case 0, 1, 2:
        let text = LongTexts.text(Int64(step), length: random.below(2 * length + 8))
        try state.set(1, row, 2, to: .string(text))
        model[row] = text
      case 3:
        for row in rows where (row - 1) / 256 == (rows[0] + Int64(step) % 6 * 256) / 256 {
          try state.set(1, row, 2, to: .null)
          model[row] = ""
        }
      case 4:
        try state.deleteRow(1, row)
        model[row] = nil
      case 5: try insert(1 + random.below(300))
      case 6:
        var past = state
        var batch = ChangeBatch()
        let after = model[row] ?? ""
        batch.append(
          .update, 1, row, [(2, .string("before"), after.isEmpty ? .null : .string(after))])
        try past.apply(batch, changes: 0..<1, direction: .backward)
        #expect(try past.value(1, row, 2) == .string("before"), "seed \(seed), step \(step)")
        #expect(try past.invariantViolations() == [], "seed \(seed), step \(step)")
        if random.below(3) == 0 {
          state = past
          model[row] = "before"
        }
      case 7, 8: _ = try state.save(to: chunks, full: random.below(4) == 0)
      default:
        var copy = state
        state = try State(directory: try copy.save(to: chunks), source: chunks)
      }
      guard step % 6 == 0 else { continue }
      for (row, text) in model {
        let expected: Value = text.isEmpty ? .null : .string(text)
        #expect(try state.value(1, row, 2) == expected, "seed \(seed), step \(step), row \(row)")
      }
      #expect(state.count(of: 1) == model.count, "seed \(seed), step \(step)")
      #expect(try state.invariantViolations() == [], "seed \(seed), step \(step)")
    }
  }
}
