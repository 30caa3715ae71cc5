import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import Testing

@testable import AnnalsLog

/// Frames of kinds that this version does not know and may skip: readers pass over them, writers
/// leave them where they are.
struct LaterVersionTests {
  private let later = FrameKind(rawValue: 99)

  @Test(arguments: [true, false])
  func aFrameAtTheEndStaysWhereItIs(isClosed: Bool) throws {
    let frames: [(FrameKind, FrameFlags, [UInt8])] = [
      (later, .skippable, [1, 2, 3]), (FrameKind(rawValue: 98), .skippable, []),
    ]
    let (file, start, added) = try SmallFile(isClosed: isClosed).appending(frames)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let lab = try LogLab(files, creates: false, opening: 8)
    #expect(lab.state == file.states[file.head])
    #expect(lab.log.view.end == UInt64(start + added.count))
    try lab.commit([(99, "behind it")])
    try lab.log.close()
    let bytes = try files.contents(of: LogLab.path)
    #expect(Array(bytes[start..<start + added.count]) == Array(added))
    let again = try LogLab(files, creates: false)
    #expect(again.state == lab.state)
    #expect(again.log.report.tail == .clean && again.log.report.findings.isEmpty)
    try again.reload(from: .base)
    #expect(again.state == lab.state)
  }

  /// Another process is behind, and catches up.
  @Test
  func catchingUpGoesOverIt() throws {
    let files = MemoryFileSystem()
    let plain = try SmallFile(isClosed: false)
    try files.put(plain.bytes, at: LogLab.path)
    let lab = try LogLab(files, creates: false, opening: 8)
    let (file, start, added) = try plain.appending([(later, .skippable, [1, 2, 3])])
    try files.overwrite(Array(added), at: start, of: LogLab.path)
    try lab.commit([(99, "behind it")])
    #expect(lab.log.view.end > UInt64(start + added.count))
    let bytes = try files.contents(of: LogLab.path)
    #expect(Array(bytes[start..<start + added.count]) == Array(added))
    #expect(try LogLab(files, creates: false, access: .reading).state == lab.state)
    #expect(file.head + 1 == lab.state.number)
  }

  /// A large value that stands before such a frame is known to the transaction behind it.
  @Test
  func largeValuesBeforeItAreKnown() throws {
    let bytes = [UInt8](repeating: 9, count: 40)
    var payload: ContiguousArray<UInt8> = []
    bytes.withUnsafeBytes {
      LargeValueCodec.encode(
        LargeValuePiece(number: 2, totalLength: 40, start: 0, bytes: $0), into: &payload)
    }
    let frames: [(FrameKind, FrameFlags, [UInt8])] = [
      (.largeValue, [], Array(payload)), (later, .skippable, [7]),
    ]
    let (file, _, _) = try SmallFile(isClosed: false).appending(frames)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let lab = try LogLab(files, creates: false, opening: 8)
    let large = LargeValue(
      tag: .data, number: 2, length: 40, checksum: bytes.withUnsafeBytes { Checksum.crc32($0) })
    #expect(try lab.log.view.bytes(of: large) == ContiguousArray(bytes))
    try lab.lock()
    try lab.appendLarge(row: 60, byte: 1, count: 50)
    try lab.log.sync()
    lab.log.unlock()
    #expect(lab.large[60]?.number == 3)
    #expect(try LogLab(files, creates: false).state == lab.state)
  }

  /// What such a frame says may hold for its place only, so that a rewrite leaves it out.
  @Test
  func aRewriteGoesOverIt() throws {
    let (file, _, _) = try SmallFile(isClosed: false).appending(
      [(later, .skippable, [1, 2, 3])])
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let lab = try LogLab(files, creates: false, opening: 8)
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
    #expect(try LogLab(files, creates: false).state == lab.state)
  }
}

extension SmallFile {
  /// The file with frames behind the end of its log, as a later version would have put them there;
  /// where they begin, and their bytes.
  func appending(
    _ frames: [(kind: FrameKind, flags: FrameFlags, payload: [UInt8])]
  ) throws -> (file: SmallFile, start: Int, added: ContiguousArray<UInt8>) {
    let files = MemoryFileSystem()
    try files.put(bytes, at: LogLab.path)
    let view = try LogLab(files, creates: false, access: .reading).log.view
    var previous = view.file.header.checksum
    var walk = FrameWalk(
      view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    while case .frame(let frame) = try walk.next() { previous = frame.header.checksum }
    var writer = FrameWriter(
      seed: view.file.header.seed, offset: view.end, previousChecksum: previous, durableMark: nil)
    for frame in frames {
      frame.payload.withUnsafeBytes {
        _ = writer.append(kind: frame.kind, flags: frame.flags, payload: $0)
      }
    }
    let start = Int(view.end)
    var result = self
    let rest = result.bytes.dropFirst(start + writer.bytes.count)
    result.bytes = result.bytes[..<start] + Array(writer.bytes) + rest
    return (result, start, writer.bytes)
  }
}
