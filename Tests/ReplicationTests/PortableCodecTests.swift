import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// The portable form: what is written is read, and nothing else is.
@Suite struct PortableCodecTests {
  /// The transactions of a log with a bit of everything.
  static func samples() async throws -> [(PortableTransaction, InMemorySharedLog)] {
    let world = ReplicaWorld(1)
    try await world.openAll()
    let replica = world.replicas[0]
    let metadata: [String: Value] = ["k": .bool(true)]
    let folder = try await replica.write(author: "ann", context: "é", metadata: metadata) { tx in
      let folder = try tx.insert(Folder(name: "f"))
      let note = try tx.insert(
        Note(title: "Fog", image: Data(repeating: 9, count: 4_100), folder: Reference(folder)))
      _ = try tx.insert(Note(title: "Mist", folder: Reference(folder), friends: [Reference(note)]))
      return folder
    }
    try await replica.write(author: "ann", group: "g") { tx in
      for note in try tx.objects(of: Note.self) {
        try tx.update(note) { ($0.count, $0.image) = (7, nil) }
      }
    }
    try await replica.undo(author: "ann")
    try await replica.write { tx in try tx.delete(folder.objectID) }
    try await replica.write { tx in
      try tx.require(
        Schema {
          Entity("All") {
            Attribute("id", .int64, isUnique: true)
            Attribute("any", .any)
          }
        })
      for value: Value in [
        .int(-1), .double(1.5), .string("x"), .date(Timestamp(microseconds: 3)), .bool(false),
        .url("a:b"), .json("{}"), .data([1, 2]), .uuid(RawUUID(high: 1, low: 2)),
      ] { _ = try tx.insert("All", ["any": value]) }
    }
    let all = try replica.store.snapshot().objects(of: "All")
    try await replica.erase(all[0].id, properties: ["any"], reason: "why")
    return try world.log.contents.records.map {
      (try PortableTransaction(decoding: Array($0.bytes.dropFirst())), world.log)
    }
  }

  @Test func whatIsWrittenIsRead() async throws {
    let samples = try await Self.samples().map(\.0)
    #expect(samples.map(\.number) == Array(1...Int64(samples.count)))
    for (before, after) in zip(samples, samples.dropFirst()) {
      #expect(after.previous == before.digest)
      #expect(after.storeID == before.storeID)
    }
    #expect(samples[1].envelope.author == "ann" && samples[1].envelope.context == "é")
    #expect(samples[1].largeValues.count == 1)
    #expect(samples[2].largeValues.isEmpty)
    #expect(samples.compactMap(\.erasure).map(\.reason) == ["why"])
    let names = samples[1].names.entities.map { "\($0.name): \($0.properties.map(\.name))" }
    #expect(
      names == [
        #"Folder: ["name", "size"]"#,
        #"Note: ["title", "count", "image", "key", "folder", "friends"]"#,
      ])
  }

  @Test func everyTruncationAndEveryBitIsFound() async throws {
    for (sample, _) in try await Self.samples() {
      let bytes = sample.bytes
      for count in bytes.indices {
        #expect(throws: ReplicationError.self) {
          try PortableTransaction(decoding: Array(bytes[..<count]))
        }
      }
      #expect(throws: ReplicationError.self) { try PortableTransaction(decoding: bytes + [0]) }
      let step = bytes.count > 2_000 ? 11 : 1
      for bit in stride(from: 0, to: 8 * bytes.count, by: step) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(throws: ReplicationError.self, "bit \(bit)") {
          try PortableTransaction(decoding: flipped)
        }
      }
    }
  }

  /// Bits are flipped, and the checksum is made to fit: what is then read is refused, or is a
  /// transaction that a store takes or refuses, and nothing worse.
  @Test func hostileBytesAreRefusedOrHarmless() async throws {
    let samples = try await Self.samples().map(\.0)
    var (read, taken) = (0, 0)
    for (index, sample) in samples.enumerated() {
      let length = sample.bytes.count
      let step = isLong ? 1 : length > 2_000 ? 67 : 5
      for bit in stride(from: 32, to: 8 * (length - 4), by: step) {
        var bytes = sample.bytes
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        bytes.removeLast(4)
        bytes.appendChecksum()
        guard let crafted = try? PortableTransaction(decoding: bytes) else { continue }
        read += 1
        guard read % 16 == 0 || isLong else { continue }
        let store = try Self.store(with: samples[..<index])
        do {
          try commitDirectly(crafted, to: store)
          taken += 1
        } catch {
          #expect(store.token.number == Int64(index))
        }
        try store.close()
      }
    }
    print("crafted: \(read) read, \(taken) taken")
    #expect(read > 100 && taken > 0)
  }

  /// A store with these transactions.
  static func store(with samples: ArraySlice<PortableTransaction>) throws -> Store {
    let store = try Store(StoreLocation.memory, schema: Schema())
    for sample in samples { try commitDirectly(sample, to: store) }
    return store
  }

  /// A long transaction is cut where its changes say, and a part that is cut elsewhere is refused.
  @Test func partsFollowFromTheChanges() async throws {
    let world = ReplicaWorld(1)
    try await world.openAll()
    try await world.replicas[0].write { tx in
      for index in 0..<9_000 { _ = try tx.insert(Note(title: "note \(index)", count: index)) }
    }
    let record = try #require(world.log.contents.records.last)
    let sample = try PortableTransaction(decoding: Array(record.bytes.dropFirst()))
    #expect(sample.parts.count > 1)
    #expect(sample.parts.reduce(0) { $0 + $1.changes.count } == 9_000)
    var content = PortableTransaction.Content(previous: sample.previous)
    (content.store, content.number) = (sample.store, sample.number)
    content.envelope = sample.envelope
    content.parts = sample.parts.reversed()
    // The first parts are now shorter than they should be: they are cut anew.
    let again = try PortableTransaction(
      content, schema: world.replicas[0].store.schema, largeValues: world.replicas[0].store.version)
    #expect(try PortableTransaction(decoding: again.bytes).digest == again.digest)
    #expect(again.parts.dropLast().allSatisfy { PortableParts.isOne($0, isLast: false) })
    #expect(!PortableParts.isOne(sample.parts[sample.parts.count - 1], isLast: false))
  }

  /// Lengths that lie about what follows take no memory.
  @Test func lyingLengthsAreRefused() async throws {
    let sample = try await Self.samples()[1].0
    let head = 4 + 1 + 1 + 16 + 1 + 32
    for place in head..<(head + 40) {
      for huge: [UInt8] in [
        [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        [0x80, 0x80, 0x80, 0x20],
      ] {
        var bytes = Array(sample.bytes.dropLast(4))
        bytes.replaceSubrange(place..<(place + 1), with: huge)
        bytes.appendChecksum()
        _ = try? PortableTransaction(decoding: bytes)
      }
    }
    for count in 0..<300 {
      #expect(throws: ReplicationError.self) {
        try PortableTransaction(decoding: [UInt8](repeating: 0xFF, count: count))
      }
    }
  }

  @Test func digestsAsText() throws {
    let digest = Digest(of: [1, 2, 3])
    #expect(Digest(digest.description) == digest)
    #expect(Digest(digest.bytes) == digest)
    #expect(Digest("") == nil && Digest(String(repeating: "g", count: 64)) == nil)
    #expect(Digest([UInt8](repeating: 0, count: 31)) == nil)
  }
}

extension [UInt8] {
  /// Appends the checksum that the portable form ends with.
  fileprivate mutating func appendChecksum() {
    let checksum = withUnsafeBytes { Checksum.crc32($0) }
    Swift.withUnsafeBytes(of: checksum.littleEndian) { append(contentsOf: $0) }
  }
}
