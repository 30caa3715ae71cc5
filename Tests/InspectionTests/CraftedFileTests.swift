import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Testing

/// Files whose checksums are all right and whose contents are not: what somebody makes on purpose.
@Suite struct CraftedFileTests {
  /// Everything that inspection does, over the bytes; returns whether there was a finding.
  @discardableResult
  private func inspect(_ bytes: ContiguousArray<UInt8>, _ comment: Comment) throws -> Bool {
    let found = try findings(in: bytes)
    var cursor = try ReadableTransactions(bytes.opened())
    var items = 0
    while try cursor.next() != nil {
      items += 1
      #expect(items < 1000, comment)
    }
    for style in DumpStyle.allCases {
      for isBytes in [false, true] {
        var options = DumpOptions()
        options.style = style
        options.bytes = isBytes
        var dump = try FileDump(bytes.opened(), options: options)
        var length = 0
        _ = try dump.run {
          length += $0.utf8.count
          return true
        }
        #expect(length > 0 && length < 1_000_000, comment)
      }
    }
    return !found.isEmpty
  }

  /// Each byte of each payload changed in one bit, with its checksums made to fit.
  @Test func changedPayloads() throws {
    let file = SampleStore.complete()
    let bytes = file.bytes
    var frames: [(offset: UInt64, header: FrameHeader)] = []
    for region in try regions(in: bytes) {
      guard let frame = region.frame else { continue }
      frames.append((region.offset, frame.header))
    }
    var random = SeededRandom(seed: 7)
    for target in frames.indices {
      for place in 0..<Int(frames[target].header.payloadLength) where random.next() % 4 == 0 {
        var crafted = HandMadeFile()
        for (index, (offset, header)) in frames.enumerated() {
          let start = Int(offset) + FormatLimits.frameHeaderLength
          var payload = ContiguousArray(bytes[start..<start + Int(header.payloadLength)])
          if index == target { payload[place] ^= 1 << UInt8(random.next() % 8) }
          crafted.append(header.kind, flags: header.flags, payload)
        }
        try inspect(crafted.bytes, "frame \(target), byte \(place)")
      }
    }
  }

  @Test func extremeHeaders() throws {
    for edge in [Int64.min, -1, 0, 1, .max] {
      let file = SampleStore.small(2)
      var crafted = HandMadeFile(base: max(0, edge)) {
        $0.baseTimestamp = Timestamp(microseconds: edge)
        $0.prunedAt = Timestamp(microseconds: edge)
        $0.prunedBy = "ann"
        $0.baseCheckpointOffset = UInt64(bitPattern: edge)
        $0.generation = max(1, UInt64(bitPattern: edge))
        $0.features.optional = UInt64(bitPattern: edge)
      }
      crafted.append(SampleStore.firstRecord())
      crafted.allocated = Int(file.offset % 64)
      try inspect(crafted.bytes, "\(edge)")
    }
  }

  @Test func extremeSlots() throws {
    for edge in [UInt64(12_288), 12_296, 1 << 40, UInt64(Int64.max) & ~7, UInt64.max & ~7] {
      var crafted = SampleStore.small(3)
      var slot = RootSlot(
        sequence: .max, durableMark: edge, head: .max, markChecksum: 0)
      slot.checkpointOffset = edge - 8 >= 12_288 ? edge - 8 : 0
      slot.checkpointNumber = .max
      crafted.slots = [slot]
      let isFound = try inspect(crafted.bytes, "\(edge)")
      #expect(isFound, "\(edge)")
    }
  }

  @Test func extremeRecords() throws {
    for edge in [Int64.min, -1, 1, Int64.max - 1, .max] {
      var crafted = SampleStore.small(1)
      var record = SampleStore.record(max(1, edge))
      record.timestamp = Timestamp(microseconds: edge)
      record.author = .max
      record.context = .max
      record.opening = .max
      record.newNames = ["a", "b"]
      record.firstNewName = .max - 2
      record.newOpening = Opening(
        number: .max, id: .max, processName: "\u{0}\n\"\\\u{202E}", processID: edge)
      let large = LargeValue(tag: .string, number: .max, length: .max, checksum: .max)
      let values: [PropertyValues] = [
        (1, .null, .int(edge)), (2, .null, .double(.greatestFiniteMagnitude)),
        (3, .null, .date(Timestamp(microseconds: edge))), (9, .null, .large(large)),
        (65_535, .null, .object(ObjectReference(entity: .max, row: .max))),
      ]
      crafted.append(record, [(.insert, 0x3FFF_FFFF, .max, values)])
      crafted.append(record)
      try inspect(crafted.bytes, "\(edge)")
    }
  }

  @Test func extremeDirectories() throws {
    for edge in [Int64(0), 1, Int64.max - 1, .max] {
      var crafted = SampleStore.small(2)
      var directory = CheckpointDirectory(number: edge)
      directory.isBase = edge == 1
      directory.changeCount = edge
      directory.clockJumps = edge
      directory.nextLargeValueNumber = UInt64(edge)
      directory.previousCheckpoint = CheckpointReference(offset: UInt64(edge), number: edge)
      directory.largeValues.entries = [LargeValueEntry(number: .max, offset: .max, length: .max)]
      directory.historyIndex.entries = [
        HistoryIndexEntry(
          firstNumber: edge, offset: .max, maximumTimestamp: Timestamp(microseconds: .max),
          entities: [.max])
      ]
      let reference = ChunkReference(
        offset: UInt64(Int64.max) & ~7, length: 16 << 20, checksum: .max, first: edge, count: .max)
      directory.names.chunks = [reference]
      directory.openings.chunks = [reference]
      directory.largeValues.chunks = [reference]
      directory.entities = [
        EntityDirectory(
          entity: .max, nextRow: .max, liveCount: .max - 1, rows: [reference],
          columns: [ColumnDirectory(property: .max, chunks: [reference])],
          indexes: [
            IndexDirectory(
              rule: .max, count: .max, chunks: [IndexChunk(reference: reference, lowestKey: [1])])
          ])
      ]
      crafted.append(.checkpoint, directory.encode())
      let isFound = try inspect(crafted.bytes, "\(edge)")
      #expect(isFound, "\(edge)")
    }
  }

  @Test func extremeLargeValues() throws {
    var crafted = SampleStore.small(1)
    for (number, total, start) in [
      (UInt64(1), UInt64.max, UInt64(0)), (1, .max, .max - 3), (.max, 3, 0), (.max, 3, 0),
    ] {
      crafted.append(
        .largeValue, flags: total == .max ? .continued : [],
        largeValuePiece(number, [1, 2, 3], total: total, start: start))
    }
    crafted.append(SampleStore.record(2))
    let isFound = try inspect(crafted.bytes, "large values")
    #expect(isFound)
  }
}
