import AnnalsModel
import Testing

@testable import AnnalsFormat

/// Consumers in frames and directories: what is written is read again, and nothing else is.
struct ConsumerTests {
  private static func consumer(
    _ name: String, kind: String = "", isBlocking: Bool = false, lease: Int64? = nil,
    number: Int64 = 7
  ) -> ConsumerState {
    ConsumerState(
      name: name, kind: kind, isBlocking: isBlocking, lease: lease,
      registered: Timestamp(microseconds: -5), lastSeen: Timestamp(microseconds: 1 << 50),
      number: number, openingID: 0x0123_4567_89AB_CDEF)
  }

  private static func bytes(_ change: ConsumerChange) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    ConsumerCodec.encode(change, into: &bytes)
    return bytes
  }

  private func decode(
    _ bytes: ContiguousArray<UInt8>, _ flags: FrameFlags = .skippable
  ) -> ConsumerChange? {
    let record = bytes.withUnsafeBytes {
      try? SideRecord($0, of: .consumerChange, flags: flags)
    }
    guard case .consumerChange(let change) = record else { return nil }
    return change
  }

  static let changes: [ConsumerChange] = [
    .set(consumer("a")),
    .set(consumer("sync", kind: "upload", isBlocking: true, lease: 0)),
    .set(consumer(String(repeating: "é", count: 127), lease: 1 << 62 - 1, number: 1 << 62 - 1)),
    .remove(name: "sync"),
  ]

  @Test(arguments: changes) func roundTrip(change: ConsumerChange) {
    let bytes = ConsumerTests.bytes(change)
    #expect(decode(bytes) == change)
    #expect(decode(bytes, []) == nil)
    for length in bytes.indices { #expect(decode(ContiguousArray(bytes.prefix(length))) == nil) }
    #expect(decode(bytes + [0]) == nil)
  }

  /// A flipped bit is refused, or read as what writing gives these very bytes.
  @Test(arguments: changes) func flips(change: ConsumerChange) {
    let bytes = ConsumerTests.bytes(change)
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let other = decode(flipped) else { continue }
      #expect(other != change)
      #expect(ConsumerTests.bytes(other) == flipped)
    }
  }

  @Test func theBytes() {
    var consumer = ConsumerTests.consumer("sync", kind: "up", isBlocking: true, lease: 300)
    consumer.lastSeen = Timestamp(microseconds: 2)
    #expect(
      ConsumerTests.bytes(.set(consumer)) == [
        4, 0x73, 0x79, 0x6E, 0x63, 6, 2, 0x75, 0x70, 9, 4, 7, 0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45,
        0x23, 1, 0xAC, 2,
      ])
    #expect(ConsumerTests.bytes(.remove(name: "sync")) == [4, 0x73, 0x79, 0x6E, 0x63, 1])
  }

  @Test func refused() {
    let rest: ContiguousArray<UInt8> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    func isRead(_ bytes: ContiguousArray<UInt8>) -> Bool { decode(bytes) != nil }
    #expect(isRead([1, 97, 0] + rest))
    #expect(!isRead([0, 0] + rest))
    #expect(!isRead([1, 0xFF, 0] + rest))
    #expect(!isRead([1, 97, 8] + rest))
    #expect(!isRead([1, 97, 3] + rest))
    #expect(isRead([1, 97, 1]))
    #expect(!isRead([1, 97, 3]))
    let long = ContiguousArray(repeating: UInt8(97), count: 256)
    #expect(!isRead([0x80, 2] + long + [0] + rest))
    #expect(!isRead([1, 97, 0, 0x80, 2] + long + rest.dropFirst()))
  }

  @Test func tables() {
    var table = ConsumerTable()
    let names = ["b", "a", "é", "e\u{301}", "c"]
    for name in names { table.apply(.set(ConsumerTests.consumer(name))) }
    #expect(table.list.map(\.name.utf8.count) == [1, 1, 1, 3, 2])
    table.apply(.set(ConsumerTests.consumer("b", number: 9)))
    #expect(table["b"]?.number == 9)
    #expect(table["e"] == nil)
    table.apply(.remove(name: "é"))
    table.apply(.remove(name: "x"))
    #expect(table.list.map(\.name.utf8.count) == [1, 1, 1, 3])
    for index in 0..<996 { table.apply(.set(ConsumerTests.consumer("n\(index)"))) }
    #expect(table.count == FormatLimits.maximumConsumers)
    let isTaken = table.apply(.set(ConsumerTests.consumer("z")))
    #expect(!isTaken && table["z"] == nil)
    let isChanged = table.apply(.set(ConsumerTests.consumer("a", number: 1)))
    #expect(isChanged && table["a"]?.number == 1)
  }

  @Test func directories() throws {
    var directory = CheckpointDirectory(number: 3)
    #expect(try ConsumerTests.decoded(directory.encode()).side.consumers.isEmpty)
    directory.side.consumers.apply(.set(ConsumerTests.consumer("b", isBlocking: true)))
    directory.side.consumers.apply(.set(ConsumerTests.consumer("a", lease: 5)))
    let bytes = directory.encode()
    let decoded = try ConsumerTests.decoded(bytes)
    #expect(decoded.side.consumers == directory.side.consumers)
    #expect(decoded.encode() == bytes)
    // In the item: not in order, twice, removed, none.
    let a = ConsumerTests.bytes(.set(ConsumerTests.consumer("a")))
    let b = ConsumerTests.bytes(.set(ConsumerTests.consumer("b")))
    let removed = ConsumerTests.bytes(.remove(name: "c"))
    func isRead(_ item: ContiguousArray<UInt8>) -> Bool {
      var other = CheckpointDirectory(number: 3)
      ExtensionArea.append(4, item, to: &other.extensions)
      return (try? ConsumerTests.decoded(other.encode())) != nil
    }
    #expect(isRead([2] + a + b))
    #expect(!isRead([2] + b + a))
    #expect(!isRead([2] + a + a))
    #expect(!isRead([2] + b + removed))
    #expect(!isRead([0]))
    #expect(!isRead([1] + a + [0]))
  }

  private static func decoded(
    _ bytes: ContiguousArray<UInt8>
  ) throws(DecodeFault) -> CheckpointDirectory {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(DecodeFault) in try CheckpointDirectory.decode(bytes) }
    }
    return try result.get()
  }
}
