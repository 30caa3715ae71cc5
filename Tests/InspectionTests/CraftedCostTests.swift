import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Files made to make inspection trap, hang, or do the same work again and again.
@Suite struct CraftedCostTests {
  /// An open file that counts how often a read begins at an offset.
  private final class CountingFile: StorageFile {
    let file: any StorageFile
    let counts = Locked<[UInt64: Int]>([:])

    init(_ file: HandMadeFile) { self.file = file.bytes.opened() }

    func read(
      into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(StorageError) -> Int {
      counts.withLock { $0[offset, default: 0] += 1 }
      return try file.read(into: buffer, at: offset)
    }

    func size() throws(StorageError) -> UInt64 { try file.size() }
    func identity() throws(StorageError) -> FileIdentity { try file.identity() }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {}
    func sync() throws(StorageError) {}
    func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {}
    func truncate(to size: UInt64) throws(StorageError) {}
    func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool { true }
    func unlock() {}
    func close() {}
  }

  /// The findings about a file, and how often a read began at each offset.
  private func verify(_ file: HandMadeFile) throws -> ([Finding], reads: [UInt64: Int]) {
    let file = CountingFile(file)
    var verification = try PhysicalVerification(file)
    var found: [Finding] = []
    _ = try verification.run { found.append($0) }
    return (found, file.counts.withLock { $0 })
  }

  /// What follows the greatest number of a part overflows.
  @Test func thePartWithTheGreatestNumber() throws {
    var file = SampleStore.small(1)
    for part in [UInt32.max, 1] {
      var batch = ChangeBatch()
      var record = SampleStore.record(2)
      record.part = part
      record.isContinued = part != 1
      SampleStore.add(record, [SampleStore.update(1, from: "Fog", to: "Mist")], to: &batch)
      file.append(
        .block, flags: record.isContinued ? .continued : [], batch.block())
    }
    let found = try findings(in: file.bytes).filter { $0.subject == .part }.map(\.what)
    #expect(found.first == "part 4294967295 of transaction 2 without those before it")
    #expect(found.last == "part 1 of transaction 2 behind part 4294967295")
  }

  /// An index whose tests are of a later version after the first, and as many as a number can say.
  @Test(arguments: [UInt64(2), 1 << 62]) func testsOfALaterVersion(count: UInt64) throws {
    var index: ContiguousArray<UInt8> = [5, 1, 105, 4, 0, 0]
    index.append(varInt: count)
    index += [1, 7, 9]
    var payload: ContiguousArray<UInt8> = [1, 0, 0, 0, 0, 8, 1, 1, 0, 1, 69, 9, 0, 0, 1]
    payload.append(count: index.count)
    payload += index + [0]
    var file = HandMadeFile()
    file.append(.transaction, payload)
    var options = DumpOptions()
    options.bytes = true
    var dump = try FileDump(file.bytes.opened(), options: options)
    var text = ""
    _ = try dump.run {
      text += $0
      return text.utf8.count < 1_000_000
    }
    #expect(text.contains("count of tests") && text.contains("of a later version"))
  }

  /// A history index that names each of many large values in front of one transaction.
  @Test func everyFrameOfAUnitInTheIndex() throws {
    let count: Int64 = 300
    var file = HandMadeFile()
    var directory = CheckpointDirectory(number: 1)
    for number in 1...count {
      var payload: ContiguousArray<UInt8> = []
      payload.append(varInt: UInt64(number))
      let offset = file.append(.largeValue, payload + [0, 0, 0])
      directory.historyIndex.entries.append(
        HistoryIndexEntry(
          firstNumber: number, offset: offset, maximumTimestamp: Timestamp(microseconds: 0),
          entities: []))
    }
    file.append(.transaction, SampleStore.row(SampleStore.firstRecord()))
    file.append(.checkpoint, directory.encode())
    let (found, reads) = try verify(file)
    // The first is right; the others, by each offset once, are not.
    #expect(found.contains { $0.what.hasSuffix("at \(FormatLimits.logStart + 32), where 1 is") })
    #expect(!found.contains { $0.what.hasSuffix("at \(FormatLimits.logStart), where 1 is") })
    #expect(reads.values.reduce(0, +) < 10 * Int(count))
  }

  /// A chunk that does not decode is told of by each directory that names it, and read once.
  @Test func aDamagedChunkOfManyCheckpoints() throws {
    var file = SampleStore.small(1)
    let payload = ContiguousArray<UInt8>(repeating: 9, count: 5000)
    let chunk = ChunkReference(
      offset: file.append(.chunk, payload), length: 5000,
      checksum: payload.withUnsafeBytes { Checksum.crc32($0) }, first: 1, count: 1)
    for _ in 0..<20 {
      var directory = CheckpointDirectory(number: 1)
      directory.entities = [EntityDirectory(entity: 1, nextRow: 2, liveCount: 1, rows: [chunk])]
      file.append(.checkpoint, directory.encode())
    }
    let (found, reads) = try verify(file)
    #expect(found.count { $0.subject == .chunk } == 20)
    #expect(reads[chunk.offset + UInt64(FormatLimits.frameHeaderLength)] == 1)
  }
}
