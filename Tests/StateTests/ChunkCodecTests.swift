import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Chunks to bytes and back, and what becomes of bytes that were damaged.
@Suite struct ChunkCodecTests {
  /// Values of every kind in every pattern of rows.
  static func samples(seed: UInt64) -> [ColumnValues] {
    var random = SeededRandom(seed: seed)
    var result: [ColumnValues] = []
    for kind in ColumnKind.allCases {
      for density in [1, 9, 100] {
        var words = ContiguousArray<UInt64>(repeating: 0, count: 64)
        for row in 0..<[7, 300, 4096][random.below(3)] where random.below(100) < density {
          words[row >> 6] |= 1 << UInt64(row & 63)
        }
        words[0] |= 1
        result.append(values(kind, RowPresence(words: words), using: &random))
      }
    }
    return result
  }

  private static func values(
    _ kind: ColumnKind, _ rows: RowPresence, using random: inout SeededRandom
  ) -> ColumnValues {
    var values = ColumnValues(kind: kind, rows: rows)
    let style = random.below(3)
    for index in 0..<rows.count {
      let number =
        [UInt64(index * 1000), random.next(), random.next() & 255][style]
      switch kind.storage {
      case .words:
        switch kind {
        case .bool: values.words.append(number & 1)
        // Without one bit of the exponent, so finite.
        case .double: values.words.append(number & ~(1 << 52))
        // Rows have 62 bits.
        case .object: values.words.append(number >> 2)
        case .day: values.words.append(number & 0x1F_FFFF)
        default: values.words.append(number)
        }
        if kind == .object { values.target = 3 }
      case .pairs:
        values.bytes.append(contentsOf: (0..<16).map { UInt8(truncatingIfNeeded: number >> $0) })
      case .bytes:
        append(kind, number, to: &values, using: &random)
      }
    }
    if !values.large.contains(true) { values.large = [] }
    return values
  }

  private static func append(
    _ kind: ColumnKind, _ number: UInt64, to values: inout ColumnValues,
    using random: inout SeededRandom
  ) {
    if kind == .decimal {
      let start = values.bytes.count
      (RawDecimal(significand: Int128(number), exponent: Int(number & 7) - 4) ?? .zero)
        .append(to: &values.bytes)
      values.lengths.append(UInt64(values.bytes.count - start))
      return values.large.append(false)
    }
    let isLarge = kind != .objects && kind != .any && random.below(9) == 0
    var length: Int
    switch kind {
    case .objects: length = 12 * (1 + random.below(3))
    case .any:
      let tags: [(ValueTag, Int)] = [(.int, 8), (.string, 5), (.uuid, 16), (.object, 12)]
      let tag = tags[random.below(4)]
      values.tags.append(tag.0.rawValue)
      length = tag.1
    default: length = random.below(20)
    }
    if isLarge { length = 20 }
    values.large.append(isLarge)
    values.lengths.append(UInt64(length))
    // Without two bits of each byte, so that rows of references have 62.
    values.bytes.append(
      contentsOf: (0..<length).map { $0 < 4 ? UInt8($0) : UInt8(truncatingIfNeeded: number & 63) })
  }

  static func encode(_ values: ColumnValues) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    var deflate = Deflate()
    ColumnChunkCodec.encode(
      values, entity: 2, property: 5, firstRow: 4097, into: &bytes, deflate: &deflate)
    return bytes
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `columns come back as they were`(seed: UInt64) throws {
    for values in ChunkCodecTests.samples(seed: seed) {
      let bytes = ChunkCodecTests.encode(values)
      let (header, decoded) = try bytes.withUnsafeBytes { try ColumnChunkCodec.decode($0) }
      #expect(decoded == values, "seed \(seed), kind \(values.kind)")
      #expect(
        header
          == ChunkHeader(
            content: .column, entity: 2, property: 5, firstRow: 4097, count: values.rows.count))
    }
  }

  @Test func `whole numbers take the bits that they need`() throws {
    var values = ColumnValues(
      kind: .int, rows: RowPresence(words: ContiguousArray(repeating: ~0, count: 64)))
    values.words = ContiguousArray((0..<4096).map { UInt64($0) })
    #expect(ChunkCodecTests.encode(values).count < 20, "rising by one each")
    var random = SeededRandom(seed: 1)
    values.words = ContiguousArray((0..<4096).map { _ in random.next() & 0x1FFFF })
    #expect(ChunkCodecTests.encode(values).count < 4096 * 17 / 8 + 30)
  }

  @Test func `damaged columns are refused or read as other values`() throws {
    var read = 0
    for values in ChunkCodecTests.samples(seed: 4) where values.rows.count < 60 {
      ChunkCodecTests.forEachDamage(ChunkCodecTests.encode(values)) { bytes in
        if let decoded = try? bytes.withUnsafeBytes({ try ColumnChunkCodec.decode($0) }) {
          #expect(decoded.values.rows.count == decoded.header.count)
          read += 1
        }
      }
    }
    #expect(read > 0, "a flip within values goes unnoticed here: the checksum is for that")
  }

  @Test func `rows come back as they were, and damaged ones are refused`() throws {
    var random = SeededRandom(seed: 5)
    for density in [1, 5, 40, 100] {
      var words = ContiguousArray<UInt64>(repeating: 0, count: 64)
      for row in 0..<4096 where random.below(100) < density {
        words[row >> 6] |= 1 << UInt64(row & 63)
      }
      let rows = RowPresence(words: words)
      var bytes: ContiguousArray<UInt8> = []
      var deflate = Deflate()
      RowsChunkCodec.encode(rows, entity: 1, firstRow: 1, into: &bytes, deflate: &deflate)
      let decoded = try bytes.withUnsafeBytes { try RowsChunkCodec.decode($0) }
      #expect(decoded.rows == rows)
      if density == 100 { #expect(bytes.count < 8) }
      if density == 1 { #expect(bytes.count < rows.count * 2) }
      ChunkCodecTests.forEachDamage(bytes) { damaged in
        _ = try? damaged.withUnsafeBytes { try RowsChunkCodec.decode($0) }
      }
    }
  }

  @Test func `index entries come back as they were, and damaged ones are refused`() throws {
    var random = SeededRandom(seed: 6)
    for (count, form) in [1, 2, 50, 4096].flatMap({ [($0, IndexForm.beginnings), ($0, .whole)] }) {
      var entries = IndexEntries()
      var key: UInt64 = 0
      for _ in 0..<count {
        key += 1 + UInt64(random.below(1 << 40))
        withUnsafeBytes(of: key.bigEndian) { entries.bytes.append(contentsOf: $0) }
        entries.rows.append(Int64(random.below(100_000) + 1))
        if form == .whole { entries.bytes.append(row: entries.rows.last ?? 1) }
        entries.ends.append(UInt32(entries.bytes.count))
      }
      var bytes: ContiguousArray<UInt8> = []
      var deflate = Deflate()
      IndexChunkCodec.encode(
        entries, form: form, entity: 1, rule: 2, into: &bytes, deflate: &deflate)
      let decoded = try bytes.withUnsafeBytes { try IndexChunkCodec.decode($0) }
      #expect(decoded.entries == entries)
      #expect(decoded.header.content == form.content)
      if count > 50 { continue }
      ChunkCodecTests.forEachDamage(bytes) { damaged in
        if let other = try? damaged.withUnsafeBytes({ try IndexChunkCodec.decode($0) }) {
          #expect(other.entries.count == other.header.count)
        }
      }
    }
  }

  @Test func `a state over damaged chunks throws or answers`() throws {
    var random = SeededRandom(seed: 7)
    var state = State(schema: ModelSchema.make(isUnique: true))
    for _ in 0..<12 {
      let row = try state.insertRow(1)
      for property in ModelSchema.properties {
        try state.set(1, row, property, to: ModelSchema.value(of: property, using: &random))
      }
    }
    let chunks = MemoryChunks()
    let directory = try state.save(to: chunks)
    var refused = 0
    for (offset, payload) in chunks.payloads.sorted(by: { $0.key < $1.key }) {
      try ChunkCodecTests.forEachDamage(payload, every: 5) { damaged in
        let source = UncheckedChunks(chunks.payloads, replacing: offset, with: damaged)
        do {
          var loaded = try State(directory: directory, source: source)
          _ = try loaded.invariantViolations()
          for row: Int64 in 1...3 where try loaded.contains(1, row) { try loaded.deleteRow(1, row) }
          _ = try loaded.checkUniqueness()
        } catch is StateFault {
          refused += 1
        }
      }
    }
    #expect(refused > 0)
  }

  /// Calls `body` with every truncation and with every single bit flipped, or with each so-many-th.
  static func forEachDamage(
    _ bytes: ContiguousArray<UInt8>, every step: Int = 1,
    _ body: (ContiguousArray<UInt8>) throws -> Void
  ) rethrows {
    for length in stride(from: 0, to: min(bytes.count, 400), by: step) {
      try body(ContiguousArray(bytes.prefix(length)))
    }
    for bit in stride(from: 0, to: min(bytes.count, 400) * 8, by: step) {
      var damaged = bytes
      damaged[bit >> 3] ^= 1 << UInt8(bit & 7)
      try body(damaged)
    }
  }
}

/// Chunks whose checksums nobody looks at.
private struct UncheckedChunks: ChunkSource {
  private var payloads: [UInt64: ContiguousArray<UInt8>]

  init(
    _ payloads: [UInt64: ContiguousArray<UInt8>], replacing offset: UInt64,
    with payload: ContiguousArray<UInt8>
  ) {
    self.payloads = payloads
    self.payloads[offset] = payload
  }

  func chunk(_ reference: ChunkReference) throws(StateFault) -> ContiguousArray<UInt8> {
    payloads[reference.offset] ?? []
  }
}
