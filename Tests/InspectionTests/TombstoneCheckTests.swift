import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import Testing

/// What the base says of the deletes that it remembers is compared with the frames before it.
@Suite struct TombstoneCheckTests {
  /// The payload of a frame: deletes of these posts, by transaction.
  private static func payload(_ deletes: [(number: Int64, row: Int64)]) -> ContiguousArray<UInt8> {
    var payload: ContiguousArray<UInt8> = []
    for (number, row) in deletes {
      var batch = ChangeBatch()
      SampleStore.add(
        SampleStore.record(number), [(.delete, 1, row, [(1, .int(row * 100), .null)])], to: &batch)
      TombstoneCodec.append(batch, transaction: 0, to: &payload)
    }
    return payload
  }

  /// The findings about a file with the base 4 and frames of tombstones before it, of which the
  /// base says what `edit` makes of the right references.
  private func findings(
    frames payloads: [ContiguousArray<UInt8>], isAnnounced: Bool = true, behind: Bool = false,
    _ edit: (inout [ChunkReference]) -> Void = { _ in }
  ) throws -> [Finding] {
    func build(baseAt offset: UInt64) -> (file: HandMadeFile, base: UInt64) {
      var file = HandMadeFile(base: 4) {
        $0.baseTimestamp = SampleStore.record(4).timestamp
        $0.baseCheckpointOffset = offset
        if isAnnounced { $0.features = .tombstones }
      }
      var references: [ChunkReference] = []
      for payload in payloads {
        let count = UInt32(
          payload.withUnsafeBytes { bytes in
            var batch = ChangeBatch()
            try? TombstoneCodec.decode(bytes, flags: .skippable, into: &batch)
            return batch.changes.count
          })
        references.append(
          file.append(
            chunk: payload, .tombstones, flags: .skippable,
            first: references.last.map { $0.first + Int64($0.count) } ?? 0, count: count))
      }
      edit(&references)
      var directory = SampleStore.directory(4)
      directory.isBase = true
      directory.schemaHistory.entries = [
        SchemaHistoryEntry(number: 4, schema: SampleStore.schema)
      ]
      directory.tombstones = KeptTombstones(completeAfter: 1, frames: references)
      let base = file.append(.checkpoint, directory.encode())
      if behind {
        file.append(
          .tombstones, flags: .skippable, TombstoneCheckTests.payload([(number: 4, row: 9)]))
      }
      return (file, base)
    }
    // Where the base is follows from the frames before it.
    return try findings(in: build(baseAt: build(baseAt: FormatLimits.logStart).base).file)
  }

  private func findings(in file: HandMadeFile) throws -> [Finding] {
    try InspectionTests.findings(in: file.bytes)
  }

  private static let two = [payload([(2, 1), (3, 2)]), payload([(3, 3), (4, 4)])]

  @Test func whatIsRightIsNotTold() throws {
    for frames in [[], [TombstoneCheckTests.two[0]], TombstoneCheckTests.two] {
      #expect(try findings(frames: frames) == [])
    }
  }

  /// Once every other test passed without the comparison.
  @Test func theBaseNamesTheFramesBeforeIt() throws {
    let edits: [(String, (inout [ChunkReference]) -> Void)] = [
      ("none", { $0 = [] }), ("the first alone", { $0.removeLast() }),
      ("another length", { $0[1].length -= 1 }), ("another checksum", { $0[0].checksum ^= 1 }),
      ("another count", { $0[1].count += 1 }), ("another place", { $0[1].offset += 8 }),
      (
        "one more",
        { list in
          var more = list[1]
          more.offset += UInt64((24 + more.length + 7) / 8 * 8)
          more.first += Int64(more.count)
          list.append(more)
        }
      ),
    ]
    for (what, edit) in edits {
      let found = try findings(frames: TombstoneCheckTests.two, edit)
      #expect(
        found.map(\.what) == ["the base names other tombstones than those that stand before it"],
        "\(what): \(found)")
      #expect(found.allSatisfy { $0.severity == .error && $0.subject == .tombstone })
    }
  }

  @Test func framesKeepTheirRules() throws {
    func expect(
      _ words: String, _ frames: [ContiguousArray<UInt8>], isAnnounced: Bool = true,
      behind: Bool = false
    ) throws {
      let found = try findings(frames: frames, isAnnounced: isAnnounced, behind: behind)
      #expect(found.contains { $0.what.contains(words) && $0.severity == .error }, "\(found)")
    }
    let two = TombstoneCheckTests.two
    try expect("does not announce the feature", two, isAnnounced: false)
    try expect("behind those of 4", [two[1], two[0]])
    try expect("but the base is 4", [TombstoneCheckTests.payload([(5, 1)])])
    try expect("stand behind the base", two, behind: true)
  }
}
