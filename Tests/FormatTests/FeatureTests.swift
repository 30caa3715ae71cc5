import AnnalsModel
import Testing

@testable import AnnalsFormat

/// Features: what an engine may do with a file that has them, and where they are said.
struct FeatureTests {
  @Test(
    arguments: [
      (Features.none, .everything),
      (Features(optional: 0xFFFF_FFFF), .everything),
      (Features.known, .everything),
      (Features(optional: 1 << 60 | 1 << 32), .reading(unknown: 1 << 60)),
      (
        Features(optional: .max),
        .reading(unknown: 0xFFFF_FFFF << 32 & ~Features.known.optional)
      ),
      (Features(required: 1), .nothing(unknown: 1)),
      (Features(required: 1 << 63, optional: .max), .nothing(unknown: 1 << 63)),
    ] as [(Features, Features.Permission)])
  func permissions(features: Features, permission: Features.Permission) {
    #expect(features.permission == permission)
  }

  private static func payload(_ required: UInt64, _ optional: UInt64) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    Features(required: required, optional: optional).append(to: &bytes)
    return bytes
  }

  private func decode(
    _ bytes: ContiguousArray<UInt8>, _ flags: FrameFlags
  ) -> Result<Features, DecodeFault> {
    bytes.withUnsafeBytes { payload in
      Result { () throws(DecodeFault) in try Features(announcement: payload, flags: flags) }
    }
  }

  @Test func announcements() {
    let bytes = FeatureTests.payload(0, 0x1_0000_0002)
    #expect(
      bytes == [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])
    #expect(decode(bytes, .skippable) == .success(Features(optional: 0x1_0000_0002)))
    // One that no reader needs may be skipped, and no other.
    #expect(decode(bytes, []).isRefused)
    for length in 0..<16 {
      #expect(decode(ContiguousArray(bytes.prefix(length)), .skippable).isRefused)
    }
    // What follows is of a later version, which sets bit 63 where it must not be passed over.
    for tail in [[0], [1, 2, 3], [0, 0, 0, 0, 0, 0, 0, 9]] as [[UInt8]] {
      #expect(
        decode(bytes + ContiguousArray(tail), .skippable)
          == .success(Features(optional: 0x1_0000_0002)))
    }
    #expect(decode(FeatureTests.payload(0, 0), .skippable).isRefused)
    #expect(decode(FeatureTests.payload(0, 0), []).isRefused)
    // What this version does not know may look as it likes.
    for (tail, flags) in [([], []), ([1, 2, 3], []), ([], .skippable)] as [([UInt8], FrameFlags)] {
      let newer = FeatureTests.payload(24, 1) + ContiguousArray(tail)
      #expect(decode(newer, flags) == .failure(.unknownFeatures(at: 0, 24)))
    }
  }

  /// A frame that announces may have the flag skippable, and no other.
  @Test(arguments: 0..<16 as Range<UInt8>) func flags(of flags: UInt8) {
    let seed = FrameSeed(store: RawUUID(high: 1, low: 2), generation: 1)
    var header = FrameHeader(
      kind: .featureAnnouncement, flags: FrameFlags(rawValue: flags), payloadLength: 16,
      payloadChecksum: 0, previousChecksum: 0, durableMarkBack: 0)
    var bytes: ContiguousArray<UInt8> = []
    header.encode(into: &bytes, at: 12_288, seed: seed)
    let decoded = bytes.withUnsafeBytes { try? FrameHeader.decode($0, at: 12_288, seed: seed) }
    #expect((decoded != nil) == (flags < 2))
  }

  @Test func slotsRepeatWhatWasAnnounced() throws {
    let seed = FrameSeed(store: RawUUID(high: 1, low: 2), generation: 1)
    var slot = RootSlot(sequence: 2, durableMark: 16_384, head: 7, markChecksum: 1)
    slot.announced = Features(optional: 0x80)
    let bytes = slot.encode(seed: seed)
    #expect(bytes[240] == 0x80)
    #expect(try bytes.withUnsafeBytes { try RootSlot.decode($0, index: 0, seed: seed) } == slot)
    // What needs unknown features is not judged otherwise; but its checksum must fit.
    slot.announced = Features(required: 0x300)
    slot.sequence = 0
    slot.extent = 0
    var newer = slot.encode(seed: seed)
    let fault = DecodeFault.unknownFeatures(at: 232, 0x300)
    #expect(throws: fault) {
      try newer.withUnsafeBytes { _ = try RootSlot.decode($0, index: 0, seed: seed) }
    }
    newer[300] = 1
    #expect(throws: DecodeFault.checksum(at: 4092)) {
      try newer.withUnsafeBytes { _ = try RootSlot.decode($0, index: 0, seed: seed) }
    }
  }
}

extension Result where Success == Features, Failure == DecodeFault {
  fileprivate var isRefused: Bool {
    switch self {
    case .failure(.invalid), .failure(.truncated): true
    default: false
    }
  }
}
