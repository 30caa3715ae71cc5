import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Columns of which a checkpoint holds several chunks in a group: each is read by itself.
@Suite struct ColumnPartTests {
  @Test func `a value is read with its leaf alone`() throws {
    let (stored, chunks) = try LongTexts.makeStored()
    #expect(try stored.value(1, 300, 2) == .string(LongTexts.text(300)))
    #expect(try stored.value(1, 512, 2) == .string(LongTexts.text(512)))
    #expect(chunks.reads.count == 1)
    #expect(try stored.value(1, 513, 2) == .string(LongTexts.text(513)))
    #expect(chunks.reads.count == 2)
    for row in 1...LongTexts.rows {
      #expect(try stored.value(1, row, 2) == .string(LongTexts.text(row)))
    }
    #expect(chunks.reads.count == 16)
    #expect(Set(chunks.reads).count == 16)
  }

  @Test func `what was undone is read with its leaf alone`() throws {
    let (newest, chunks) = try LongTexts.makeStored()
    var past = newest
    for (row, text) in [(Int64(5), "a"), (300, "b"), (300, "c"), (4_096, "d")] {
      let after = try past.value(1, row, 2)
      var batch = ChangeBatch()
      batch.append(.update, 1, row, [(2, .string(text), after)])
      try past.apply(batch, changes: 0..<1, direction: .backward)
    }
    for (row, text) in [(Int64(5), "a"), (300, "c"), (4_096, "d")] {
      #expect(try past.value(1, row, 2) == .string(text))
      #expect(try newest.value(1, row, 2) == .string(LongTexts.text(row)))
    }
    #expect(try past.value(1, 301, 2) == .string(LongTexts.text(301)))
    #expect(Set(chunks.reads).count == chunks.reads.count)
    // Three leaves; the bits of the rows.
    #expect(chunks.reads.count <= 4)
    #expect(try past.invariantViolations() == [])
  }

  /// What was read before a walk in passing serves it, and what it reads is not kept.
  @Test func `in passing only what is missing is read`() throws {
    let (stored, chunks) = try LongTexts.makeStored()
    let empty = State(schema: stored.schema)
    #expect(try stored.value(1, 300, 2) == .string(LongTexts.text(300)))
    func pass() throws -> Int {
      chunks.forgetReads()
      var changes = NetChanges(from: empty, to: stored, isPassing: true)
      for row in 1...LongTexts.rows {
        var batch = ChangeBatch()
        #expect(try changes.append(ObjectReference(entity: 1, row: row), to: &batch))
      }
      return chunks.reads.count
    }
    // The rows, which stay; the numbers; fifteen leaves of texts.
    #expect(try pass() == 17)
    #expect(try pass() == 16)
  }

  /// Writers may end chunks anywhere.
  @Test(arguments: isLong ? Array(1...40) : Array(1...6) as [UInt64])
  func `chunks may end anywhere`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var values = [Int64: String]()
    for row in 1...LongTexts.rows where random.below(seed % 3 == 0 ? 40 : 2) == 0 {
      values[row] = "\(row)"
    }
    // Some at the edge of a leaf, and some within one.
    var starts: Set<Int64> = [values.keys.min() ?? 1]
    for _ in 0..<1 + random.below(30) {
      let isEdge = random.below(2) == 0
      starts.insert(Int64(isEdge ? random.below(16) * 256 : random.below(4_096)) + 1)
    }
    let (chunks, directory) = try Self.store(values, starts: starts.sorted())
    let stored = try State(directory: directory, source: chunks)
    for _ in 0..<200 {
      let row = Int64(random.below(4_096)) + 1
      let expected = values[row].map { Value.string($0) } ?? .null
      #expect(try stored.value(1, row, 2) == expected, "seed \(seed), row \(row)")
    }
    for row in 1...LongTexts.rows {
      let expected = values[row].map { Value.string($0) } ?? .null
      #expect(try stored.value(1, row, 2) == expected, "seed \(seed), row \(row)")
    }
    #expect(Set(chunks.reads).count == chunks.reads.count, "seed \(seed)")
    #expect(try stored.invariantViolations() == [], "seed \(seed)")
  }

  @Test func `a chunk that reaches into the next is refused`() throws {
    let values = Dictionary(uniqueKeysWithValues: (1...LongTexts.rows).map { ($0, "\($0)") })
    let (chunks, directory) = try Self.store(values, starts: [1, 257, 513], overlap: 1)
    let stored = try State(directory: directory, source: chunks)
    #expect(throws: StateFault.self) { try stored.value(1, 3, 2) }
    #expect(throws: StateFault.self) { try stored.value(1, 300, 2) }
    #expect(try stored.value(1, 600, 2) == .string("600"))
  }

  /// 4,096 objects of which some have a text, in chunks that begin at these rows and go on to the
  /// next, or `overlap` rows further.
  private static func store(
    _ values: [Int64: String], starts: [Int64], overlap: Int64 = 0
  ) throws -> (MemoryChunks, CheckpointDirectory) {
    var state = State(schema: LongTexts.schema)
    for _ in 1...LongTexts.rows { _ = try state.insertRow(1) }
    let chunks = MemoryChunks()
    var directory = try state.save(to: chunks)
    var deflate = Deflate()
    var references: [ChunkReference] = []
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] + overlap : LongTexts.rows + 1
      let own = (start..<end).filter { values[$0] != nil }
      if own.isEmpty { continue }
      var bits = ContiguousArray<UInt64>(repeating: 0, count: 64)
      for row in own { bits[Int(row - start) >> 6] |= 1 << UInt64((row - start) & 63) }
      var column = ColumnValues(kind: .string, rows: RowPresence(words: bits))
      for row in own {
        let bytes = Array((values[row] ?? "").utf8)
        column.lengths.append(UInt64(bytes.count))
        column.bytes.append(contentsOf: bytes)
      }
      var payload: ContiguousArray<UInt8> = []
      ColumnChunkCodec.encode(
        column, entity: 1, property: 2, firstRow: start, into: &payload, deflate: &deflate)
      references.append(
        payload.withUnsafeBytes { chunks.store($0, first: start, count: UInt32(own.count)) })
    }
    directory.entities[0].columns.append(ColumnDirectory(property: 2, chunks: references))
    return (chunks, directory)
  }
}
