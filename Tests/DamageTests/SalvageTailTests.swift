import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import Testing

/// What a salvage says of the end of a file whose writer was killed: of what came last nothing else
/// tells, neither a number behind it nor a root slot.
@Suite struct SalvageTailTests {
  private typealias Frame = (kind: FrameKind, offset: UInt64, length: UInt64)

  /// A store that was not closed, whose slots say nothing of its last transactions 9 to 11; the
  /// large value of transaction 9, and the frames of the last three.
  private func unclosed() throws -> (
    bytes: ContiguousArray<UInt8>, value: Range<Int>, last: [Range<Int>]
  ) {
    let bytes = try SampleFile.open.make()
    let frames = try frameList(bytes)
    func range(_ frame: Frame) -> Range<Int> {
      Int(frame.offset)..<Int(frame.offset + frame.length)
    }
    let value = try #require(frames.last { $0.kind == .largeValue })
    let last = frames.filter { $0.kind == .transaction || $0.kind == .block }.suffix(3)
    return (bytes, range(value), last.map(range))
  }

  private func zeros(
    _ range: Range<Int>, in bytes: ContiguousArray<UInt8>
  ) -> ContiguousArray<UInt8> {
    var bytes = bytes
    for index in range.clamped(to: bytes.indices) { bytes[index] = 0 }
    return bytes
  }

  /// A page that reads as zeros held the end of a large value and the transactions behind it: once
  /// nothing was said to be lost, as of frames only those of transactions were looked at.
  @Test func aLargeValueThatIsBrokenOffAndAllBehindIt() throws {
    let (bytes, value, _) = try unclosed()
    for start in [value.lowerBound + 1_000, value.lowerBound + 24, value.upperBound - 100] {
      let (report, store) = try SalvageLab.salvage(zeros(start..<bytes.count, in: bytes))
      #expect(!report.isComplete && !report.hasProvenEnd && report.head == 8)
      #expect(report.rest?.bytes == UInt64(value.count), "\(report.lines())")
      #expect(
        report.lines() == [
          "perhaps lost: what stood in the \(value.count) bytes after transaction 8 "
            + "(payload checksum mismatch)"
        ])
      #expect(store.token.number == 8)
    }
    // Cut off, the slot's extent tells.
    let cut = ContiguousArray(bytes.prefix(value.lowerBound + 1_000))
    #expect(try SalvageLab.salvage(cut).0.rest != nil)
  }

  /// The large value is whole, and what mentions it is not there.
  @Test func aLargeValueThatNothingFollows() throws {
    let (bytes, value, _) = try unclosed()
    let (report, _) = try SalvageLab.salvage(zeros(value.upperBound..<bytes.count, in: bytes))
    #expect(report.head == 8 && report.rest?.bytes == UInt64(value.count), "\(report.lines())")
    #expect(report.rest?.reason == "the end of what begins there is missing")
  }

  /// Amid frames zeros are where something was, whatever stands behind them.
  @Test func zerosBeforeSomethingElseThanATransaction() throws {
    let (bytes, value, last) = try unclosed()
    var damaged = zeros(value, in: bytes)
    for frame in last.dropFirst() { damaged = zeros(frame, in: damaged) }
    let (lost, _) = try SalvageLab.salvage(damaged)
    let text = "lost: the 5000 bytes of large value 2, text of Note#4"
    #expect(lost.head == 9 && lost.lines().contains(text), "\(lost.lines())")

    let (report, _) = try SalvageLab.salvage(zeros(last[0], in: bytes))
    #expect(report.lost.map(\.numbers) == [9...9] && report.rest == nil, "\(report.lines())")
    #expect(report.lost[0].reason == "zeros amid the frames at offset \(last[0].lowerBound)")
    #expect(report.lostValues.isEmpty)

    // The transactions are zeros, and of a checkpoint behind them the directory is damaged.
    let location = try sampleFile(bytes)
    let store = try Store(location, creates: false, environment: .fixed(seed: 5))
    try store.checkpoint()
    var longer = try location.contents()
    for offset in FormatLimits.slotOffsets.map(Int.init) {
      longer.replaceSubrange(offset..<offset + 4_096, with: bytes[offset..<offset + 4_096])
    }
    let directory = try #require(try frameList(longer).last { $0.kind == .checkpoint })
    longer[Int(directory.offset) + 30] ^= 1
    let (behind, _) = try SalvageLab.salvage(
      zeros(value.lowerBound..<last[2].upperBound, in: longer))
    #expect(behind.head == 8 && behind.rest != nil, "\(behind.lines())")
  }

  /// Zeros from the beginning of a unit on look as space that was never written to: that is said of
  /// every file that was not closed.
  @Test func whatLeavesNoTrace() throws {
    let (bytes, _, last) = try unclosed()
    let (report, _) = try SalvageLab.salvage(zeros(last[1].lowerBound..<bytes.count, in: bytes))
    #expect(report.head == 9 && report.isComplete && !report.hasProvenEnd, "\(report.lines())")
    for sort in SampleFile.allCases {
      let (sound, _) = try SalvageLab.salvage(sort.make())
      let wasClosed = sort != .open && sort != .prunedOpen
      #expect(sound.isComplete && sound.hasProvenEnd == wasClosed, "\(sort)")
    }
    var closed = try SampleFile.closed.make()
    let frames = try frameList(closed)
    let end = try #require(frames.last)
    closed = zeros(Int(end.offset)..<closed.count, in: closed)
    #expect(try SalvageLab.salvage(closed).0.hasProvenEnd)
    let reopened = closed + ContiguousArray(repeating: 0, count: 4_096)
    #expect(try !SalvageLab.salvage(reopened).0.hasProvenEnd)
  }
}
