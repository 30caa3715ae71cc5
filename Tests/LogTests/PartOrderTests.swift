import AnnalsFormat
import AnnalsModel
import AnnalsStorage
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
    var second = ChangeBatch()
    let after = ValueCell(.large(value), appendingTo: &second.arena)
    second.properties.append(
      PropertyChange(property: 1, before: ValueCell(tag: .null), after: after))
    second.changes.append(
      ChangeEntry(kind: .insert, entity: 1, row: 2, firstProperty: 0, propertyCount: 1))
    try lab.log.appendPart(&second, isLast: true)
    _ = try lab.log.commit()
    var state = Titles()
    state.number = 1
    state.titles = [1: "one", 2: "large \(value.number)"]
    return (files, state)
  }

  @Test func largeValuesMayStandBetweenParts() throws {
    let (files, state) = try partedLog()
    let view = try LogLab(files, creates: false, access: .reading).log.view
    var walk = FrameWalk(
      view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    var frames: [(kind: FrameKind, flags: FrameFlags, payload: [UInt8])] = []
    while case .frame(let frame) = try walk.next() {
      try #require(try walk.payloadIsValid(frame))
      let payload = walk.withPayload(of: frame) { Array($0) }
      frames.append((frame.header.kind, frame.header.flags, payload))
    }
    try #require(frames.map(\.kind) == [.largeValue, .block, .block])
    frames.swapAt(0, 1)
    var writer = FrameWriter(
      seed: view.file.header.seed, offset: FormatLimits.logStart,
      previousChecksum: view.file.header.checksum, durableMark: nil)
    for frame in frames {
      frame.payload.withUnsafeBytes {
        _ = writer.append(kind: frame.kind, flags: frame.flags, payload: $0)
      }
    }
    try files.overwrite(Array(writer.bytes), at: Int(FormatLimits.logStart), of: LogLab.path)

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
