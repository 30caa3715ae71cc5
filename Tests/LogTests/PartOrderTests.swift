import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Files as another writer may have made them: with large values between the parts of the
/// transaction that mentions them, where this one puts them before.
@Suite struct PartOrderTests {
  /// A log whose only transaction has a large value and then two parts.
  private func partedLog() throws -> (MemoryFileSystem, Titles) {
    let files = MemoryFileSystem()
    let lab = try LogLab(files)
    try lab.lock()
    try lab.log.begin()
    let bytes = ContiguousArray<UInt8>(repeating: 7, count: 5_000)
    let value = try bytes.withBytes { bytes throws(LogError) in
      try lab.log.appendLargeValue(bytes, tag: .string)
    }
    try lab.log.describe(lab.draft())
    var first = LogLab.batch([(1, "one")], old: lab.state)
    try lab.log.appendPart(&first, isLast: false)
    var second = ChangeBatch(.insert, 1, 2, [(1, .null, .large(value))])
    try lab.log.appendPart(&second, isLast: true)
    _ = try lab.log.commit()
    var state = Titles()
    state.number = 1
    state.titles = [1: "one", 2: "large \(value.number)"]
    return (files, state)
  }

  @Test func largeValuesMayStandBetweenParts() throws {
    let (files, state) = try partedLog()
    let bytes = try files.contents(of: LogLab.path)
    var frames = try bytes.frames()
    try #require(frames.map(\.header.kind) == [.largeValue, .block, .block])
    frames.swapAt(0, 1)
    var writer = FrameWriter(behind: try bytes.fileHeader())
    writer.durableMark = nil
    for frame in frames {
      writer.append(frame.header.kind, flags: frame.header.flags, Bytes(bytes[frame.payload]))
    }
    try files.overwrite(writer.bytes, at: writer.start, of: LogLab.path)

    let lab = try LogLab(files, creates: false, opening: 8)
    #expect(lab.state == state)
    #expect(try lab.largeValues() == ["large 1: 5000 times 7"])
    try lab.commit([(3, "three")])
    try lab.log.close()
    let again = try LogLab(files, creates: false, opening: 9)
    #expect(again.state == lab.state)
    try again.reload(from: .base)
    #expect(again.state == lab.state)
    for number in 1...60 { try again.commit([(4, "title \(number)")]) }
    let plan = RewritePlan(base: .keep, checkpoint: false, destination: .replace)
    #expect(try again.rewrite(plan).outcome == .done)
    #expect(try again.state(at: 2) == lab.state && again.state(at: 62) == again.state)
    #expect(try again.largeValues() == ["large 1: 5000 times 7"])
  }
}
