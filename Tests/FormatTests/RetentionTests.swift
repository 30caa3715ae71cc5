import AnnalsModel
import Testing

@testable import AnnalsFormat

/// The retention in frames and directories: what is written is read again, and nothing else is.
struct RetentionTests {
  private static func bytes(_ policy: RetentionPolicy) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    RetentionCodec.encode(policy, into: &bytes)
    return bytes
  }

  private func decode(
    _ bytes: ContiguousArray<UInt8>, _ flags: FrameFlags = .skippable
  ) -> RetentionPolicy? {
    let record = bytes.withUnsafeBytes { try? SideRecord($0, of: .retention, flags: flags) }
    guard case .retention(let policy) = record else { return nil }
    return policy
  }

  static let policies: [RetentionPolicy] = [
    .off, RetentionPolicy(age: 1), RetentionPolicy(transactions: 300),
    RetentionPolicy(age: 1 << 62 - 1, transactions: 1 << 62 - 1),
  ]

  @Test(arguments: policies) func roundTrip(policy: RetentionPolicy) {
    let bytes = RetentionTests.bytes(policy)
    #expect(decode(bytes) == policy)
    #expect(decode(bytes, []) == nil)
    for length in bytes.indices { #expect(decode(ContiguousArray(bytes.prefix(length))) == nil) }
    #expect(decode(bytes + [0]) == nil)
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let other = decode(flipped) else { continue }
      #expect(other != policy && RetentionTests.bytes(other) == flipped)
    }
  }

  @Test func theBytes() {
    #expect(RetentionTests.bytes(RetentionPolicy(age: 300, transactions: 5)) == [3, 0xAC, 2, 5])
    for refused in [[1, 0], [2, 0], [4], [3, 1], [0, 0]] as [ContiguousArray<UInt8>] {
      #expect(decode(refused) == nil)
    }
  }

  @Test func directories() throws {
    for policy in RetentionTests.policies {
      var directory = CheckpointDirectory(number: 3)
      directory.side.retention = policy
      let bytes = directory.encode()
      let decoded = try bytes.withUnsafeBytes { try CheckpointDirectory.decode($0) }
      #expect(decoded.side.retention == policy && decoded.encode() == bytes)
    }
    for item in [[0], [1, 0], [2, 5, 0]] as [ContiguousArray<UInt8>] {
      var directory = CheckpointDirectory(number: 3)
      ExtensionArea.append(5, item, to: &directory.extensions)
      let bytes = directory.encode()
      #expect(throws: DecodeFault.self) {
        try bytes.withUnsafeBytes { _ = try CheckpointDirectory.decode($0) }
      }
    }
  }
}
