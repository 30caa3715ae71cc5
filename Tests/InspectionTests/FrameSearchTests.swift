import AnnalsFormat
import AnnalsInspection
import AnnalsTestSupport
import Testing

/// The search for the next frame behind damage, which reads through a window.
@Suite struct FrameSearchTests {
  /// Wherever a window ends in the next frame's header, that frame is found, and whether its mark
  /// proves the damaged one synced.
  @Test(arguments: [true, false], [true, false])
  func aHeaderAcrossTheEndOfAWindow(isNoise: Bool, isSynced: Bool) throws {
    let window: UInt64 = 256 << 10
    var random = SeededRandom(seed: 11)
    let lostBytes = ContiguousArray(
      (0..<Int(window)).map { _ in isNoise ? UInt8(truncatingIfNeeded: random.next()) : 0 })
    for place in stride(from: window - 48, through: window + 48, by: 8) {
      var file = SampleStore.small(2)
      let lost = file.offset
      let length = Int(place - lost) - FormatLimits.frameHeaderLength
      file.append(.chunk, ContiguousArray(lostBytes.prefix(length)))
      if isSynced { file.sync() }
      file.append(SampleStore.record(3), [SampleStore.update(1, from: "Title 2", to: "Title 3")])
      let bytes = file.bytes.flipping(bit: 3, ofByte: Int(lost) + 9)
      let found = try regions(in: bytes).filter { $0.offset > lost && $0.frame != nil }
      #expect(found.map(\.offset) == [place])
      let tail = try LogEnd.find(in: FileWalk(bytes.opened())).tail
      let reason = "bytes that are no frame, though bytes behind it were synced"
      #expect(
        tail == (isSynced ? .damaged(reason: reason) : .torn(byteCount: file.offset - lost)),
        "at \(place)")
    }
  }
}
