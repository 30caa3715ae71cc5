import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Frames of kinds that this version does not know and may skip: readers pass over them, writers
/// leave them where they are.
struct LaterVersionTests {
  private let later = FrameKind(rawValue: 99)

  @Test(arguments: [true, false])
  func aFrameAtTheEndStaysWhereItIs(isClosed: Bool) throws {
    let (file, start, added) = try SmallFile(isClosed: isClosed).appending([
      (later, .skippable, [1, 2, 3]), (FrameKind(rawValue: 98), .skippable, []),
    ])
    let lab = try LogLab(bytes: file.bytes, access: .writing, opening: 8)
    #expect(lab.state == file.states[file.head])
    #expect(lab.log.view.end == UInt64(start + added.count))
    try lab.commit([(99, "behind it")])
    try lab.log.close()
    #expect(try lab.contents()[start..<start + added.count] == added[...])
    let again = try LogLab(lab.files, creates: false)
    #expect(again.state == lab.state)
    #expect(again.log.report.tail == .clean && again.log.report.findings.isEmpty)
    try again.reload(from: .base)
    #expect(again.state == lab.state)
  }

  /// Another process is behind, and catches up.
  @Test
  func catchingUpGoesOverIt() throws {
    let plain = try SmallFile(isClosed: false)
    let lab = try LogLab(bytes: plain.bytes, access: .writing, opening: 8)
    let (file, start, added) = try plain.appending([(later, .skippable, [1, 2, 3])])
    try lab.files.overwrite(added, at: start, of: LogLab.path)
    try lab.commit([(99, "behind it")])
    #expect(lab.log.view.end > UInt64(start + added.count))
    #expect(try lab.contents()[start..<start + added.count] == added[...])
    #expect(try LogLab(lab.files, creates: false, access: .reading).state == lab.state)
    #expect(file.head + 1 == lab.state.number)
  }

  /// A large value that stands before such a frame is known to the transaction behind it.
  @Test
  func largeValuesBeforeItAreKnown() throws {
    let bytes = Bytes(repeating: 9, count: 40)
    let (file, _, _) = try SmallFile(isClosed: false).appending([
      (.largeValue, [], largeValuePiece(2, bytes)), (later, .skippable, [7]),
    ])
    let lab = try LogLab(bytes: file.bytes, access: .writing, opening: 8)
    let large = LargeValue(
      tag: .data, number: 2, length: 40, checksum: bytes.withUnsafeBytes { Checksum.crc32($0) })
    #expect(try lab.log.view.bytes(of: large) == bytes)
    try lab.lock()
    try lab.appendLarge(row: 60, byte: 1, count: 50)
    try lab.log.sync()
    lab.log.unlock()
    #expect(lab.large[60]?.number == 3)
    #expect(try LogLab(lab.files, creates: false).state == lab.state)
  }

  /// What such a frame says may hold for its place only, so that a rewrite leaves it out.
  @Test
  func aRewriteGoesOverIt() throws {
    let (file, _, _) = try SmallFile(isClosed: false).appending(
      [(later, .skippable, [1, 2, 3])])
    let lab = try LogLab(bytes: file.bytes, access: .writing, opening: 8)
    let text = String(repeating: "a long title ", count: 30)
    for number in 1...40 { try lab.commit([(Int64(number), "\(text) \(number)")]) }
    let before = try LogLab.history(lab.log.view)
    let number = try #require(file.states.keys.max())
    let past = try lab.state(at: number)
    let plan = RewritePlan(base: .keep, checkpoint: true, destination: .replace)
    #expect(try lab.rewrite(plan).outcome == .done)
    #expect(try LogLab.history(lab.log.view) == before)
    #expect(try lab.rewrite(try lab.prunePlan(number, past)).outcome == .done)
    #expect(try LogLab.history(lab.log.view) == Array(before.suffix(40)))
    #expect(try LogLab(lab.files, creates: false).state == lab.state)
  }
}

/// A frame to be written.
typealias NewFrame = (kind: FrameKind, flags: FrameFlags, payload: Bytes)

extension SmallFile {
  /// The file with frames behind the end of its log, as a later version would have put them there;
  /// where they begin, and their bytes.
  func appending(
    _ frames: [NewFrame]
  ) throws -> (file: SmallFile, start: Int, added: Bytes) {
    var writer = try bytes.writerBehindFrames()
    let start = Int(writer.offset)
    for frame in frames { writer.append(frame.kind, flags: frame.flags, frame.payload) }
    var file = self
    file.bytes.replaceSubrange(
      start..<min(Int(writer.offset), bytes.count), with: writer.bytes)
    return (file, start, writer.bytes)
  }
}
