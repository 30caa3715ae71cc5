import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Rows of the damage table in FORMAT.md that random damage seldom hits, one by one.
struct DamageTableTests {
  private let newest = DamageOutcome.newest(findings: 0)

  // MARK: Slots and lengths

  /// One slot is whole at any time: damage to one is a finding, to both damage of the file, whether
  /// by zeros or otherwise. What the frames say can be read all the same.
  @Test(arguments: [true, false], [true, false])
  func damagedSlots(isClosed: Bool, byZeros: Bool) throws {
    let file = try SmallFile(isClosed: isClosed)
    for slots in [[0], [1], [0, 1]] {
      var bytes = file.bytes
      for start in slots.map({ Int(FormatLimits.slotOffsets[$0]) }) {
        if byZeros {
          bytes.replaceSubrange(start..<start + 4096, with: Bytes(repeating: 0, count: 4096))
        } else {
          bytes[start + 2000] ^= 1
        }
      }
      let outcome = try file.outcome(of: bytes)
      guard slots.count == 2 else {
        #expect(outcome == .newest(findings: 1), "\(slots)")
        continue
      }
      #expect(outcome.isRefused, "\(outcome)")
      let lab = try LogLab(bytes: bytes, readsUpToDamage: true)
      #expect(throws: LogError.self) { try LogLab(lab.files, creates: false) }
      #expect(lab.state == file.states[file.head])
      #expect(try lab.contents() == bytes)
    }
  }

  @Test func aCleanCloseWritesADamagedSlotAnew() throws {
    let file = try SmallFile(isClosed: true)
    for (index, commits) in [(0, true), (1, true), (0, false), (1, false)] {
      var bytes = file.bytes
      bytes[Int(FormatLimits.slotOffsets[index]) + 2000] ^= 1
      let lab = try LogLab(bytes: bytes, access: .writing, opening: 8)
      if commits { try lab.commit([(99, "one more")]) }
      try lab.log.close()
      let closed = try lab.contents()
      let found = try LogLab(bytes: closed).log.view.file.slots()
      #expect(found.areWhole && found.findings.isEmpty, "\(index)")
      let size = UInt64(closed.count)
      #expect(found.sayClosed(at: size, size: size))
    }
  }

  @Test func theHeadOfASlotIsNotUsed() throws {
    let file = try SmallFile(isClosed: true)
    var bytes = file.bytes
    for index in 0...1 { try bytes.editSlot(index) { $0.head += 3 } }
    #expect(try file.outcome(of: bytes) == newest)
  }

  @Test func aCheckpointOfAnotherNumberIsNotStartedFrom() throws {
    let file = try SmallFile(isClosed: true)
    var bytes = file.bytes
    for index in 0...1 { try bytes.editSlot(index) { $0.checkpointNumber += 1 } }
    let lab = try LogLab(bytes: bytes)
    #expect(lab.state == file.states[file.head])
    #expect(!lab.log.report.findings.isEmpty && lab.log.report.start == 3)
  }

  /// Zeros behind the end of the log may be lost, as long as one of them is left.
  @Test func filesShorterThanTheyWere() throws {
    let file = try SmallFile(isClosed: false)
    let end = Int(try LogLab(bytes: file.bytes).log.view.end)
    #expect(file.bytes.count > end + 1000)
    for (length, isWhole) in [(end + 1000, true), (end + 1, true), (end, false), (end - 1, false)] {
      let outcome = try file.outcome(of: Bytes(file.bytes[..<length]))
      #expect(isWhole ? outcome == newest : outcome.isRefused, "\(length - end): \(outcome)")
    }
    var bytes = Bytes(file.bytes[..<(end + 100)])
    bytes[end + 50] = 1
    #expect(try file.outcome(of: bytes).isRefused)
  }

  // MARK: Frames

  @Test func fieldsOfFrames() throws {
    let file = try SmallFile(isClosed: false)
    let end = try file.bytes.writerBehindFrames().offset
    func outcome(_ edit: (inout FrameHeader) -> Void) throws -> DamageOutcome {
      try file.outcome(
        behind: file.frame(FrameKind(rawValue: 99), flags: .skippable, edit))
    }
    #expect(try outcome { _ in } == newest)
    #expect(try outcome { $0.durableMarkBack = 4 }.isRefused)
    // A mark before the log counts as unknown.
    #expect(try outcome { $0.durableMarkBack = UInt32(end - 12_280) } == newest)
    // A length beyond the file is a torn frame, one beyond the limit is none that a crash leaves.
    #expect(try outcome { $0.payloadLength = 15 << 20 } == newest)
    #expect(try outcome { $0.payloadLength = 17 << 20 }.isRefused)
    var reserved = try file.frame(FrameKind(rawValue: 99), flags: .skippable)
    reserved[6] = 1
    let seed = try file.bytes.fileHeader().seed
    let sum = reserved[4...].withUnsafeBytes { seed.checksum($0, at: end) }
    withUnsafeBytes(of: sum.littleEndian) { reserved.replaceSubrange(0..<4, with: $0) }
    #expect(try file.outcome(behind: reserved).isRefused)
  }

  /// A frame from another place of the same file is a header that does not fit.
  @Test(arguments: [true, false]) func aFrameFromElsewhere(isProven: Bool) throws {
    let file = try SmallFile(isClosed: false)
    var bytes = file.bytes
    let frames = try bytes.frames()
    let copy = bytes[frames[0].offset..<frames[0].end]
    let place = isProven ? frames[frames.count - 4].offset : frames[frames.count - 1].end
    bytes.replaceSubrange(place..<place + copy.count, with: copy)
    let outcome = try file.outcome(of: bytes)
    #expect(isProven ? outcome.isRefused : outcome == newest, "\(outcome)")
  }

  /// What is not whole of a unit that nothing proves is torn from the unit's beginning.
  @Test func unitsThatNothingProves() throws {
    let file = try SmallFile(isClosed: false)
    let piece = largeValuePiece(2, Bytes(repeating: 5, count: 40))
    var directory = CheckpointDirectory(number: file.head)
    directory.names.entries = ["ann", "lab"]
    let units: [[NewFrame]] = [
      [(.largeValue, [], piece), (.transaction, [], record(file.head + 1))],
      [(.chunk, [], [1, 2, 3]), (.checkpoint, [], directory.encode())],
    ]
    for unit in units {
      let (whole, start, added) = try file.appending(unit)
      let last = FrameHeader.frameLength(payloadLength: unit[1].2.count)
      for place in [24 + 1, added.count - Int(last) + 24] {
        var bytes = whole.bytes
        bytes[start + place] ^= 1
        let report = try LogLab(bytes: bytes).log.report
        let end = try #require(bytes.lastIndex { $0 != 0 }) + 1
        #expect(report.tail == .unfinished(from: UInt64(start), byteCount: UInt64(end - start)))
        #expect(try file.outcome(of: bytes) == newest)
      }
    }
  }

  // MARK: Records and checkpoints

  private func record(
    _ number: Int64, _ edit: (inout TransactionRecord) -> Void = { _ in }
  ) -> Bytes {
    var batch = ChangeBatch()
    var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: 1))
    edit(&record)
    batch.append(record)
    return batch.row()
  }

  private func part(
    _ number: Int64, _ part: UInt32, isLast: Bool, author: NameNumber = 0
  ) -> Bytes {
    var batch = LogLab.batch([(Int64(part) + 200, "part")], old: Titles())
    var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: 1))
    (record.part, record.isContinued, record.author) = (part, !isLast, author)
    batch.append(record)
    return batch.block()
  }

  /// No crash leaves a record whose checksums fit and that does not follow, proven or not.
  @Test func recordsThatDoNotFollow() throws {
    let file = try SmallFile(isClosed: false)
    let next = file.head + 1
    let wrong: [(String, [NewFrame])] = [
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
      let outcome = try file.outcome(of: file.appending(frames).file.bytes)
      #expect(outcome.isRefused, "\(what): \(outcome)")
    }
  }

  /// A checkpoint in the wrong place is passed over, and told.
  @Test func aCheckpointInTheWrongPlace() throws {
    let file = try SmallFile(isClosed: false)
    var directory = CheckpointDirectory(number: 2)
    let (wrong, _, _) = try file.appending([(.checkpoint, [], directory.encode())])
    #expect(try file.outcome(of: wrong.bytes) == .newest(findings: 1))
    directory.number = file.head
    let (right, _, _) = try file.appending([(.checkpoint, [], directory.encode())])
    #expect(try file.outcome(of: right.bytes) == newest)
  }

  /// The header of a chunk that lies before the checkpoint which opening starts from: no opening
  /// meets it, and every reading that goes over it does.
  @Test func theChainBeforeACheckpoint() throws {
    let file = try SmallFile(isClosed: true)
    var bytes = file.bytes
    let chunk = try #require(try bytes.frames().first { $0.header.kind == .chunk }).offset
    bytes[chunk + 9] ^= 1
    let lab = try LogLab(bytes: bytes)
    #expect(lab.state == file.states[file.head] && lab.log.report.start == 5)
    let error = #expect(throws: LogError.self) { try lab.reload(from: .base) }
    guard case .damage(let damage) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(damage.offset == UInt64(chunk) && damage.lastGood == 3)
  }
}
