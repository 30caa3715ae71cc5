import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import Testing

@testable import AnnalsLog

/// Rows of the damage table in FORMAT.md that random damage seldom hits, one by one.
struct DamageTableTests {
  private let newest = DamageOutcome.newest(findings: 0)

  private func isRefused(_ outcome: DamageOutcome) -> Bool {
    if case .refused = outcome { true } else { false }
  }

  private func slotRange(_ index: Int) -> Range<Int> {
    let start = Int(FormatLimits.slotOffsets[index])
    return start..<start + FormatLimits.blockLength
  }

  /// The file with each valid slot changed, its checksum put right.
  private func changingSlots(
    of file: SmallFile, _ edit: (inout RootSlot) -> Void
  ) throws -> [UInt8] {
    let seed = try file.bytes.withUnsafeBytes { try FileHeader.decode($0) }.seed
    var bytes = file.bytes
    for index in 0...1 {
      var slot = try Array(bytes[slotRange(index)]).withUnsafeBytes {
        try RootSlot.decode($0, index: index, seed: seed)
      }
      edit(&slot)
      bytes.replaceSubrange(slotRange(index), with: Array(slot.encode(seed: seed)))
    }
    return bytes
  }

  // MARK: Slots and lengths

  /// One slot is whole at any time: damage to one is a finding, to both damage of the file, whether
  /// by zeros or otherwise. What the frames say can be read all the same.
  @Test(arguments: [true, false], [true, false])
  func damagedSlots(isClosed: Bool, byZeros: Bool) throws {
    let file = try SmallFile(isClosed: isClosed)
    for slots in [[0], [1], [0, 1]] {
      var bytes = file.bytes
      for index in slots {
        if byZeros {
          bytes.replaceSubrange(slotRange(index), with: [UInt8](repeating: 0, count: 4096))
        } else {
          bytes[slotRange(index).lowerBound + 2000] ^= 1
        }
      }
      let outcome = try file.outcome(of: bytes)
      guard slots.count == 2 else {
        #expect(outcome == .newest(findings: 1), "\(slots)")
        continue
      }
      #expect(isRefused(outcome), "\(outcome)")
      let files = MemoryFileSystem()
      try files.put(bytes, at: LogLab.path)
      #expect(throws: LogError.self) { try LogLab(files, creates: false) }
      let lab = try LogLab(files, creates: false, access: .reading, readsUpToDamage: true)
      #expect(lab.state == file.states[file.head])
      #expect(try files.contents(of: LogLab.path) == bytes)
    }
  }

  @Test func aCleanCloseWritesADamagedSlotAnew() throws {
    let file = try SmallFile(isClosed: true)
    for (index, commits) in [(0, true), (1, true), (0, false), (1, false)] {
      var bytes = file.bytes
      bytes[slotRange(index).lowerBound + 2000] ^= 1
      let files = MemoryFileSystem()
      try files.put(bytes, at: LogLab.path)
      let lab = try LogLab(files, creates: false, opening: 8)
      if commits { try lab.commit([(99, "one more")]) }
      try lab.log.close()
      let found = try LogLab(files, creates: false, access: .reading).log.view.file.slots()
      #expect(found.areWhole && found.findings.isEmpty, "\(index)")
      let size = UInt64(try files.contents(of: LogLab.path).count)
      #expect(found.sayClosed(at: size, size: size))
    }
  }

  @Test func theHeadOfASlotIsNotUsed() throws {
    let file = try SmallFile(isClosed: true)
    let bytes = try changingSlots(of: file) { $0.head += 3 }
    #expect(try file.outcome(of: bytes) == newest)
  }

  @Test func aCheckpointOfAnotherNumberIsNotStartedFrom() throws {
    let file = try SmallFile(isClosed: true)
    let bytes = try changingSlots(of: file) { $0.checkpointNumber += 1 }
    let files = MemoryFileSystem()
    try files.put(bytes, at: LogLab.path)
    let lab = try LogLab(files, creates: false, access: .reading)
    #expect(lab.state == file.states[file.head])
    #expect(!lab.log.report.findings.isEmpty && lab.log.report.start == 3)
  }

  /// Zeros behind the end of the log may be lost, as long as one of them is left.
  @Test func filesShorterThanTheyWere() throws {
    let file = try SmallFile(isClosed: false)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let end = Int(try LogLab(files, creates: false, access: .reading).log.view.end)
    #expect(file.bytes.count > end + 1000)
    for (length, isWhole) in [(end + 1000, true), (end + 1, true), (end, false), (end - 1, false)] {
      let outcome = try file.outcome(of: Array(file.bytes[..<length]))
      #expect(isWhole ? outcome == newest : isRefused(outcome), "\(length - end): \(outcome)")
    }
    var bytes = Array(file.bytes[..<(end + 100)])
    bytes[end + 50] = 1
    #expect(isRefused(try file.outcome(of: bytes)))
  }

  // MARK: Frames

  /// Puts a frame behind the end, whose header `edit` changes before its checksum is computed.
  private func outcome(
    kind: FrameKind = FrameKind(rawValue: 99), _ edit: (inout FrameHeader, UInt64) -> Void,
    change: (inout ContiguousArray<UInt8>, FrameSeed, UInt64) -> Void = { _, _, _ in }
  ) throws -> DamageOutcome {
    let file = try SmallFile(isClosed: false)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let view = try LogLab(files, creates: false, access: .reading).log.view
    let seed = view.file.header.seed
    var last: UInt32 = 0
    var walk = FrameWalk(
      view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    while case .frame(let frame) = try walk.next() { last = frame.header.checksum }
    var header = FrameHeader(
      kind: kind, flags: .skippable, payloadLength: 0,
      payloadChecksum: [UInt8]().withUnsafeBytes { seed.checksum($0, at: view.end) },
      previousChecksum: last, durableMarkBack: .max)
    edit(&header, view.end)
    var frame: ContiguousArray<UInt8> = []
    header.encode(into: &frame, at: view.end, seed: seed)
    change(&frame, seed, view.end)
    var bytes = file.bytes
    bytes.replaceSubrange(Int(view.end)..<Int(view.end) + frame.count, with: frame)
    return try file.outcome(of: bytes)
  }

  @Test func fieldsOfFrames() throws {
    #expect(try outcome { _, _ in } == newest)
    #expect(isRefused(try outcome { header, _ in header.durableMarkBack = 4 }))
    // A mark before the log counts as unknown.
    #expect(try outcome { $0.durableMarkBack = UInt32($1 - 12_280) } == newest)
    // A length beyond the file is a torn frame, one beyond the limit is none that a crash leaves.
    #expect(try outcome { header, _ in header.payloadLength = 15 << 20 } == newest)
    #expect(isRefused(try outcome { header, _ in header.payloadLength = 17 << 20 }))
    let reserved = try outcome(
      { _, _ in },
      change: { frame, seed, offset in
        frame[6] = 1
        let sum = frame.withUnsafeBytes {
          seed.checksum(UnsafeRawBufferPointer(rebasing: $0[4...]), at: offset)
        }
        withUnsafeBytes(of: sum.littleEndian) { frame.replaceSubrange(0..<4, with: $0) }
      })
    #expect(isRefused(reserved))
  }

  /// A frame from another place of the same file is a header that does not fit.
  @Test(arguments: [true, false]) func aFrameFromElsewhere(isProven: Bool) throws {
    let file = try SmallFile(isClosed: false)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let view = try LogLab(files, creates: false, access: .reading).log.view
    var frames: [WalkedFrame] = []
    var walk = FrameWalk(
      view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    while case .frame(let frame) = try walk.next() { frames.append(frame) }
    let copy = Array(file.bytes[Int(frames[0].offset)..<Int(frames[0].end)])
    let place = Int(isProven ? frames[frames.count - 4].offset : view.end)
    var bytes = file.bytes
    bytes.replaceSubrange(place..<place + copy.count, with: copy)
    let outcome = try file.outcome(of: bytes)
    #expect(isProven ? isRefused(outcome) : outcome == newest, "\(outcome)")
  }

  /// What is not whole of a unit that nothing proves is torn from the unit's beginning.
  @Test func unitsThatNothingProves() throws {
    let file = try SmallFile(isClosed: false)
    var piece: ContiguousArray<UInt8> = []
    [UInt8](repeating: 5, count: 40).withUnsafeBytes {
      LargeValueCodec.encode(
        LargeValuePiece(number: 2, totalLength: 40, start: 0, bytes: $0), into: &piece)
    }
    var directory = CheckpointDirectory(number: file.head)
    directory.names.entries = ["ann", "lab"]
    let units: [[(FrameKind, FrameFlags, [UInt8])]] = [
      [(.largeValue, [], Array(piece)), (.transaction, [], record(file.head + 1))],
      [(.chunk, [], [1, 2, 3]), (.checkpoint, [], Array(directory.encode()))],
    ]
    for unit in units {
      let (whole, start, added) = try file.appending(unit)
      let last = FrameHeader.frameLength(payloadLength: unit[1].2.count)
      for place in [24 + 1, added.count - Int(last) + 24] {
        var bytes = whole.bytes
        bytes[start + place] ^= 1
        let files = MemoryFileSystem()
        try files.put(bytes, at: LogLab.path)
        let report = try LogLab(files, creates: false, access: .reading).log.report
        let end = try #require(bytes.lastIndex { $0 != 0 }) + 1
        #expect(report.tail == .unfinished(from: UInt64(start), byteCount: UInt64(end - start)))
        #expect(try file.outcome(of: bytes) == newest)
      }
    }
  }

  // MARK: Records and checkpoints

  private func record(
    _ number: Int64, _ edit: (inout TransactionRecord) -> Void = { _ in }
  ) -> [UInt8] {
    var batch = ChangeBatch()
    var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: 1))
    edit(&record)
    batch.transactions = [record]
    var bytes: ContiguousArray<UInt8> = []
    TransactionCodec.encode(batch, transaction: 0, into: &bytes)
    return Array(bytes)
  }

  private func part(
    _ number: Int64, _ part: UInt32, isLast: Bool, author: NameNumber = 0
  ) -> [UInt8] {
    var batch = LogLab.batch([(Int64(part) + 200, "part")], old: Titles())
    var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: 1))
    (record.part, record.isContinued, record.changeCount) = (part, !isLast, 1)
    record.author = author
    batch.transactions = [record]
    var bytes: ContiguousArray<UInt8> = []
    BlockCodec.encode(batch, into: &bytes)
    return Array(bytes)
  }

  /// No crash leaves a record whose checksums fit and that does not follow, proven or not.
  @Test func recordsThatDoNotFollow() throws {
    let file = try SmallFile(isClosed: false)
    let next = file.head + 1
    func outcome(_ frames: [(FrameKind, FrameFlags, [UInt8])]) throws -> DamageOutcome {
      try file.outcome(of: file.appending(frames).file.bytes)
    }
    let wrong: [(String, [(FrameKind, FrameFlags, [UInt8])])] = [
      ("missing", [(.transaction, [], record(next + 1))]),
      ("a second time", [(.transaction, [], record(next - 1))]),
      (
        "names",
        [(.transaction, [], record(next) { ($0.newNames, $0.firstNewName) = (["x"], 9) })]
      ),
      ("an author", [(.transaction, [], record(next) { $0.author = 9 })]),
      ("a context", [(.transaction, [], record(next) { $0.context = 9 })]),
      ("an opening", [(.transaction, [], record(next) { $0.opening = 9 })]),
      (
        "a new opening",
        [
          (
            .transaction, [],
            record(next) {
              $0.newOpening = Opening(number: 9, id: 1, processName: "p", processID: 1)
            }
          )
        ]
      ),
      ("bytes left over", [(.transaction, [], record(next) + [0])]),
      (
        "parts in order of one too far",
        [
          (.block, .continued, part(next + 1, 0, isLast: false)),
          (.block, [], part(next + 1, 1, isLast: true)),
        ]
      ),
      (
        "parts by an author that never was",
        [
          (.block, .continued, part(next, 0, isLast: false, author: 9)),
          (.block, [], part(next, 1, isLast: true, author: 9)),
        ]
      ),
      ("a later part alone", [(.block, [], part(next, 1, isLast: true))]),
      (
        "a part left out",
        [
          (.block, .continued, part(next, 0, isLast: false)),
          (.block, [], part(next, 2, isLast: true)),
        ]
      ),
      (
        "a part of another",
        [
          (.block, .continued, part(next, 0, isLast: false)),
          (.block, [], part(next + 1, 1, isLast: true)),
        ]
      ),
    ]
    for (what, frames) in wrong {
      let outcome = try outcome(frames)
      #expect(isRefused(outcome), "\(what): \(outcome)")
    }
  }

  /// A checkpoint in the wrong place is passed over, and told.
  @Test func aCheckpointInTheWrongPlace() throws {
    let file = try SmallFile(isClosed: false)
    var directory = CheckpointDirectory(number: 2)
    let payload = Array(directory.encode())
    let (wrong, _, _) = try file.appending([(.checkpoint, [], payload)])
    #expect(try file.outcome(of: wrong.bytes) == .newest(findings: 1))
    directory.number = file.head
    let (right, _, _) = try file.appending([(.checkpoint, [], Array(directory.encode()))])
    #expect(try file.outcome(of: right.bytes) == newest)
  }

  /// The header of a chunk that lies before the checkpoint which opening starts from: no opening
  /// meets it, and every reading that goes over it does.
  @Test func theChainBeforeACheckpoint() throws {
    let file = try SmallFile(isClosed: true)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let view = try LogLab(files, creates: false, access: .reading).log.view
    var walk = FrameWalk(
      view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    var chunk: UInt64 = 0
    while chunk == 0, case .frame(let frame) = try walk.next() {
      if frame.header.kind == .chunk { chunk = frame.offset }
    }
    var bytes = file.bytes
    bytes[Int(chunk) + 9] ^= 1
    try files.put(bytes, at: LogLab.path)
    let lab = try LogLab(files, creates: false, access: .reading)
    #expect(lab.state == file.states[file.head] && lab.log.report.start == 5)
    let error = #expect(throws: LogError.self) { try lab.reload(from: .base) }
    guard case .damage(let damage) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(damage.offset == chunk && damage.lastGood == 3)
  }
}
