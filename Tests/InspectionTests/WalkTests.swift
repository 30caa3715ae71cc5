import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@Suite struct WalkTests {
  @Test func regionsOfASoundFile() throws {
    let file = SampleStore.complete()
    let found = try regions(in: file.bytes)
    let kinds = found.compactMap { $0.frame?.header.kind }
    #expect(
      kinds == [
        .transaction, .block, .largeValue, .largeValue, .transaction, .block, .block, .transaction,
        .chunk,
        .chunk, .chunk, .chunk, .chunk, .chunk, .checkpoint, .transaction,
      ])
    for frame in found.compactMap(\.frame) {
      #expect(frame.isIntact)
      #expect(frame.chain == .follows)
    }
    #expect(found.last?.length == UInt64(file.allocated))
  }

  /// Whatever the length, regions cover the file from its first byte to its last.
  @Test func everyTruncationIsCovered() throws {
    let bytes = SampleStore.complete().bytes
    for count in 0..<bytes.count where count < 64 || count % 97 == 0 || count > 12_288 {
      try expectCover(ContiguousArray(bytes.prefix(count)))
    }
  }

  @Test func everyFlipInTheLogIsCovered() throws {
    let bytes = SampleStore.complete().bytes
    for index in Int(FormatLimits.logStart)..<bytes.count {
      try expectCover(bytes.flipping(bit: index % 8, ofByte: index))
    }
  }

  @Test(arguments: [0, 1, 4095, 4096, 12_287, 12_288, 12_289, 300_000])
  func bytesOfNoStore(count: Int) throws {
    var random = SeededRandom(seed: UInt64(count) + 1)
    let noise = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    try expectCover(ContiguousArray(noise))
    try expectCover(ContiguousArray(repeating: 0, count: count))
  }

  private func expectCover(_ bytes: ContiguousArray<UInt8>) throws {
    var end: UInt64 = 0
    for region in try regions(in: bytes) {
      #expect(region.offset == end)
      #expect(region.length > 0)
      end = region.end
    }
    #expect(end == UInt64(bytes.count))
  }

  @Test func goesOnBehindADamagedFrameHeader() throws {
    let file = SampleStore.small(5)
    let sound = try regions(in: file.bytes)
    let frames = sound.filter { $0.frame != nil }
    let bytes = file.bytes.flipping(bit: 3, ofByte: Int(frames[1].offset) + 9)
    let found = try regions(in: bytes).filter { $0.offset >= FormatLimits.logStart }
    #expect(found.map(\.offset) == frames.map(\.offset))
    guard case .damaged(.noFrame) = found[1].content else {
      Issue.record("not damaged: \(found[1])")
      return
    }
    #expect(found[2].frame?.chain == .unknown)
    #expect(found[3].frame?.chain == .follows)
  }

  @Test func tellsZerosFromForeignBytes() throws {
    var bytes = SampleStore.small(2).bytes
    let end = bytes.count
    bytes += ContiguousArray(repeating: 0, count: 100) + [1, 2, 3]
    bytes += ContiguousArray(repeating: 0, count: 50)
    let tail = try regions(in: bytes).filter { $0.offset >= UInt64(end) }
    #expect(tail.map(\.length) == [96, 8, 49])
    #expect(tail.map(\.isZeros) == [true, false, true])
  }

  @Test func skipsToTheRegionOfAByte() throws {
    let bytes = SampleStore.complete().bytes
    let all = try regions(in: bytes)
    for region in all {
      for place in [region.offset, region.end - 1] {
        var walk = try FileWalk(bytes.opened())
        try walk.skip(to: place)
        let found = try walk.next()
        #expect(found?.offset == region.offset)
        if let frame = region.frame { #expect(found?.frame?.chain == frame.chain) }
        if let frame = region.frame { #expect(found?.frame?.payload == frame.payload) }
      }
    }
    var walk = try FileWalk(bytes.opened())
    try walk.skip(to: UInt64.max)
    #expect(try walk.next() == nil)
  }

  /// One bad sector hides what is in it and nothing else.
  @Test func goesOnBehindABadSector() throws {
    var file = SampleStore.small(2)
    for number in Int64(3)...400 {
      file.sync()
      let change = SampleStore.update(
        1, from: "Title \(number - 1)", to: "Title \(number)")
      file.append(SampleStore.record(number), [change])
    }
    let bad = FixedFile(file.bytes, unreadable: [20_480..<24_576])
    var walk = try FileWalk(bad)
    var lost: UInt64 = 0
    var frames = 0
    while let region = try walk.next() {
      if case .damaged(.unreadable) = region.content { lost += region.length }
      if region.frame?.payload == .valid { frames += 1 }
    }
    #expect(walk.unreadable == [20_480..<24_576])
    #expect(lost > 3900 && lost < 4300)
    #expect(frames > 300)
    var verification = try StatisticsVerification(bad)
    var found: [Finding] = []
    let (report, statistics) = try verification.run { found.append($0) }
    #expect(found.contains { $0.subject == .disk })
    #expect(statistics.transactions > 300 && statistics.transactions < 400)
    guard case .damaged = report.end.tail else {
      Issue.record("\(report.end)")
      return
    }
  }

  /// With the header gone, the seed of all checksums is computed back from what is whole.
  @Test(arguments: [
    0..<4096, 0..<8192, 0..<12_288, 0..<12_400, 32..<33,
  ])
  func findsTheSeedOfALostHeader(lost: Range<Int>) throws {
    let file = SampleStore.complete()
    var bytes = file.bytes
    for index in lost { bytes[index] ^= 0xA5 }
    let walk = try FileWalk(bytes.opened())
    #expect(walk.seed == file.header.seed)
    let sound = try regions(in: file.bytes).filter { $0.offset >= UInt64(lost.upperBound) }
    let frames = try regions(in: bytes).filter { $0.frame != nil }
    let expected = sound.filter { $0.frame != nil }.map(\.offset)
    #expect(frames.suffix(expected.count).map(\.offset) == expected)
  }
}

extension FileRegion {
  var isZeros: Bool { if case .unwritten = content { true } else { false } }
}
