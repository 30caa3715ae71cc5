import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport
import Testing

/// The list of saved projections in a directory, and the chunks of their states.
@Suite struct SavedProjectionTests {
  private static func contents(_ count: Int, random: Bool) -> ProjectionCodec.Contents {
    var numbers = SeededRandom(seed: 7)
    return ProjectionCodec.Contents(
      name: "posts per day", version: 300, number: 1 << 40,
      state: ContiguousArray((0..<count).map { _ in random ? UInt8(numbers.below(256)) : 65 }))
  }

  private static func decode(_ bytes: ContiguousArray<UInt8>) throws -> ProjectionCodec.Contents {
    try bytes.withUnsafeBytes { try ProjectionCodec.decode($0) }
  }

  @Test(arguments: [(0, false), (1, true), (300, true), (300, false), (100_000, true)])
  func aStateReadsAsItWasWritten(count: Int, isRandom: Bool) throws {
    let contents = Self.contents(count, random: isRandom)
    let bytes = ProjectionCodec.encode(contents)
    let found = try Self.decode(bytes)
    #expect(found.name == contents.name && found.version == 300 && found.number == 1 << 40)
    #expect(found.state == contents.state)
    #expect(isRandom || count < 100 || bytes.count < 60, "it is not deflated")
    if count < 1_000 {
      for length in bytes.indices {
        #expect(throws: DecodeFault.self) { try Self.decode(ContiguousArray(bytes.prefix(length))) }
      }
      #expect(throws: DecodeFault.self) { try Self.decode(bytes + [0]) }
    }
  }

  /// A flipped bit that is read all the same reads as something else.
  @Test(arguments: [true, false]) func flippedBitsDoNoHarm(isRandom: Bool) throws {
    let contents = Self.contents(200, random: isRandom)
    let bytes = ProjectionCodec.encode(contents)
    for index in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[index] ^= 1 << UInt8(bit)
        guard let found = try? Self.decode(flipped) else { continue }
        let isSame =
          found.name == contents.name && found.version == contents.version
          && found.number == contents.number && found.state == contents.state
        // Deflate has bits that say nothing.
        #expect(!isSame || !isRandom, "bit \(bit) of byte \(index)")
      }
    }
  }

  @Test func refusedStates() {
    func expect(_ isRead: Bool, _ bytes: [UInt8], _ comment: Comment) {
      let found = try? Self.decode(ContiguousArray(bytes))
      #expect((found != nil) == isRead, comment)
    }
    expect(true, [6, 1, 0x61, 0, 0, 0], "the least")
    expect(false, [5, 1, 0x61, 0, 0, 0], "another kind of chunk")
    expect(false, [6, 0, 0, 0, 0], "no name")
    expect(false, [6, 1, 0xFF, 0, 0, 0], "a name that is not UTF-8")
    expect(false, [6, 1, 0x61, 0, 0, 2], "a newer compression")
    expect(
      false, [6, 1, 0x61, 0, 0, 0x80, 0x90, 0xD0, 0x1E], "16,000,512 bytes, which are not there")
    expect(
      true, [6, 0xFF, 1] + [UInt8](repeating: 0x61, count: 255) + [0, 0, 0], "the longest name")
    expect(
      false, [6, 0x80, 2] + [UInt8](repeating: 0x61, count: 256) + [0, 0, 0], "a longer name")
  }

  private static func saved(_ name: String, at offset: UInt64 = 20_000) -> SavedProjection {
    SavedProjection(
      name: name, version: 1,
      chunk: ChunkReference(offset: offset, length: 100, checksum: 7, first: 4, count: 1))
  }

  private func isRead(_ edit: (inout SavedProjections) -> Void) -> Bool {
    var list = SavedProjections(
      generation: 2, [Self.saved("a", at: 30_000), Self.saved("b", at: 20_000)])
    edit(&list)
    var directory = CheckpointDirectory(number: 9)
    directory.projections = list
    guard
      let found = try? directory.encode().withUnsafeBytes({ try CheckpointDirectory.decode($0) })
    else { return false }
    #expect(found.projections == (list.list.isEmpty ? nil : list))
    return true
  }

  @Test func refusedLists() {
    #expect(isRead { _ in })
    #expect(isRead { $0.list.removeAll() })
    #expect(!isRead { $0.list.swapAt(0, 1) }, "names that fall")
    #expect(!isRead { $0.list[1].name = "a" }, "a name twice")
    #expect(!isRead { $0.list[0].name = "" }, "no name")
    #expect(isRead { $0.list[1].name = String(repeating: "b", count: 255) })
    #expect(!isRead { $0.list[1].name = String(repeating: "b", count: 256) }, "a long name")
    #expect(!isRead { $0.list[0].chunk.count = 2 }, "several chunks")
    #expect(!isRead { $0.list[0].chunk.offset = 30_001 }, "a place where no frame is")
    #expect(!isRead { $0.list[0].chunk.length = 17 << 20 }, "a chunk beyond the limit")
    #expect(
      !isRead {
        $0.list = (0..<200).map { Self.saved("\($0 + 100)", at: 12_288) }
      }, "one chunk named often")
    #expect(
      !isRead { list in
        list.list = (0..<257).map { Self.saved("\($0 + 100)", at: 12_288 + 128 * UInt64($0)) }
      }, "too many")
  }

  @Test func ofTooManyTheOldestGo() {
    var all = (0..<300).map { Self.saved("\($0 + 100)", at: 12_288 + 128 * UInt64($0)) }
    for index in all.indices { all[index].chunk.first = Int64(index) }
    let list = SavedProjections(generation: 1, all.shuffled()).list
    #expect(list.map(\.number) == Array(44..<300))
  }
}
