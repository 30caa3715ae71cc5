import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Every truncation of every structure is refused, and no flipped bit crashes a decoder; where a
/// checksum covers the bytes, no flipped bit goes unnoticed.
struct DamageTests {
  private static let store = RawUUID(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)

  private static func header() -> FileHeader {
    var header = FileHeader(
      store: store, generation: 2, base: 41, created: Timestamp(microseconds: 1_500_000))
    header.prunedAt = Timestamp(microseconds: 1_400_000)
    header.prunedBy = "ann"
    header.baseCheckpointOffset = 12_288
    return header
  }

  private static func slot() -> RootSlot {
    var slot = RootSlot(sequence: 9, durableMark: 16_000, head: 77, markChecksum: 0xABCD)
    slot.checkpointOffset = 12_288
    slot.checkpointNumber = 41
    return slot
  }

  /// The bits whose flipping is not as expected.
  private func flips(
    of bytes: ContiguousArray<UInt8>, _ isAsExpected: (UnsafeRawBufferPointer, Int) -> Bool
  ) -> [Int] {
    var copy = bytes
    var unexpected: [Int] = []
    for bit in 0..<bytes.count * 8 {
      copy[bit / 8] ^= 1 << UInt8(bit % 8)
      if !copy.withUnsafeBytes({ isAsExpected($0, bit) }) { unexpected.append(bit) }
      copy[bit / 8] = bytes[bit / 8]
    }
    return unexpected
  }

  /// The lengths of proper prefixes that `decode` accepts.
  private func truncations<E: Error>(
    of bytes: ContiguousArray<UInt8>, _ decode: (UnsafeRawBufferPointer) throws(E) -> Void
  ) -> [Int] {
    bytes.withUnsafeBytes { bytes in
      (0..<bytes.count).filter { count in
        (try? decode(UnsafeRawBufferPointer(rebasing: bytes[..<count]))) != nil
      }
    }
  }

  /// What the decoder throws; nil if it accepts.
  private func fault<E: Error>(_ decode: () throws(E) -> Void) -> E? {
    do throws(E) {
      try decode()
      return nil
    } catch {
      return error
    }
  }

  @Test
  func headers() throws {
    var header = DamageTests.header()
    let bytes = header.encode()
    let decoded = try bytes.withUnsafeBytes { try FileHeader.decode($0) }
    #expect(decoded == header)
    let accepted = truncations(of: bytes) { (prefix) throws(HeaderFault) in
      _ = try FileHeader.decode(prefix)
    }
    #expect(accepted.isEmpty)
    let unexpected = flips(of: bytes) { flipped, bit in
      let found = fault { () throws(HeaderFault) in _ = try FileHeader.decode(flipped) }
      // Magic and version have their own answers; a flip of anything else is a checksum's.
      switch (bit / 8, found) {
      case (0..<8, .notAnnals), (8..<16, .newerVersion), (8, .checksum): return true
      case (16..., .checksum): return true
      default: return false
      }
    }
    #expect(unexpected.isEmpty)
  }

  @Test
  func slots() throws {
    let seed = DamageTests.header().seed
    let slot = DamageTests.slot()
    let bytes = slot.encode(seed: seed)
    #expect(try bytes.withUnsafeBytes { try RootSlot.decode($0, index: 1, seed: seed) } == slot)
    let wrongPlace = bytes.withUnsafeBytes { try? RootSlot.decode($0, index: 0, seed: seed) }
    #expect(wrongPlace == nil)
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in
      _ = try RootSlot.decode(prefix, index: 1, seed: seed)
    }
    #expect(accepted.isEmpty)
    let unexpected = flips(of: bytes) { flipped, _ in
      fault { () throws(DecodeFault) in _ = try RootSlot.decode(flipped, index: 1, seed: seed) }
        == .checksum(at: 4092)
    }
    #expect(unexpected.isEmpty)
    let unwritten = ContiguousArray<UInt8>(repeating: 0, count: 4096)
    #expect(throws: DecodeFault.self) {
      _ = try unwritten.withUnsafeBytes { try RootSlot.decode($0, index: 0, seed: seed) }
    }
  }

  @Test
  func frames() throws {
    let seed = DamageTests.header().seed
    var writer = FrameWriter(
      seed: seed, offset: 12_288, previousChecksum: 5, durableMark: 12_288)
    let payload = Array("hello".utf8)
    let first = payload.withUnsafeBytes { writer.append(kind: .transaction, payload: $0) }
    #expect(writer.offset == 12_288 + 32)
    let second = payload.withUnsafeBytes {
      writer.append(kind: .largeValue, flags: [.continued], payload: $0)
    }
    #expect(second.previousChecksum == first.checksum)
    #expect((second.durableMarkBack, second.durableMark(at: 12_320)) == (32, 12_288))
    #expect((writer.start, writer.bytes.count, writer.bytes.suffix(3)) == (12_288, 64, [0, 0, 0]))
    let bytes = ContiguousArray(writer.bytes[32..<56])
    let decoded = try bytes.withUnsafeBytes {
      try FrameHeader.decode($0, at: 12_320, seed: seed)
    }
    #expect(decoded == second)
    // A frame copied to another place, store or generation never fits.
    for (offset, other) in [
      (UInt64(12_288), seed), (12_320, FrameSeed(store: DamageTests.store, generation: 3)),
      (12_320, FrameSeed(store: RawUUID(high: 0, low: 1), generation: 2)),
    ] {
      #expect(throws: DecodeFault.checksum(at: 0)) {
        _ = try bytes.withUnsafeBytes { try FrameHeader.decode($0, at: offset, seed: other) }
      }
    }
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in
      _ = try FrameHeader.decode(prefix, at: 12_320, seed: seed)
    }
    #expect(accepted.isEmpty)
    let unexpected = flips(of: bytes) { flipped, _ in
      fault { () throws(DecodeFault) in
        _ = try FrameHeader.decode(flipped, at: 12_320, seed: seed)
      } == .checksum(at: 0)
    }
    #expect(unexpected.isEmpty)
  }

  @Test(arguments: UInt64(1)...6)
  func transactionRecords(seed: UInt64) {
    var maker = RandomBatch(seed: seed)
    let batch = maker.make(transactions: 1, changes: 4)
    let bytes = batch.row()
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in
      var decoded = ChangeBatch()
      try TransactionCodec.decode(prefix, into: &decoded)
    }
    #expect(accepted.isEmpty)
    let unexpected = flips(of: bytes) { flipped, _ in
      var decoded = ChangeBatch()
      try? TransactionCodec.decode(flipped, into: &decoded)
      return isWithinItself(decoded)
    }
    #expect(unexpected.isEmpty)
  }

  @Test(arguments: UInt64(1)...3)
  func blocks(seed: UInt64) {
    var maker = RandomBatch(seed: seed)
    let batch = maker.make(transactions: 4, changes: 4)
    let bytes = batch.block()
    var decoded = ChangeBatch()
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in
      try BlockCodec.decode(prefix, into: &decoded)
    }
    #expect(accepted.isEmpty)
    #expect(decoded.transactions.isEmpty && decoded.properties.isEmpty)
    let unexpected = flips(of: bytes) { flipped, _ in
      decoded.removeAll()
      try? BlockCodec.decode(flipped, into: &decoded)
      _ = try? BlockCodec.decodeSummary(flipped)
      return isWithinItself(decoded)
    }
    #expect(unexpected.isEmpty)
  }

  /// Whether everything that a decoded batch points at is there.
  private func isWithinItself(_ batch: ChangeBatch) -> Bool {
    let isPresent = { (cell: ValueCell) in cell.arenaRange.upperBound <= batch.arena.count }
    return batch.transactions.allSatisfy { $0.changeRange.upperBound <= batch.changes.count }
      && batch.changes.allSatisfy { $0.propertyRange.upperBound <= batch.properties.count }
      && batch.properties.allSatisfy { isPresent($0.before) && isPresent($0.after) }
  }

  @Test
  func definitions() throws {
    var bytes: ContiguousArray<UInt8> = []
    SchemaCodec.encode(SampleSchema.entities, into: &bytes)
    func decode(_ bytes: UnsafeRawBufferPointer) throws(DecodeFault) -> [Entity] {
      var reader = ByteReader(bytes)
      let entities = try SchemaCodec.decode(&reader)
      try reader.expectEnd()
      return entities
    }
    #expect(try bytes.withUnsafeBytes { try decode($0) } == SampleSchema.entities)
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in _ = try decode(prefix) }
    #expect(accepted.isEmpty)
    // What is taken of flipped bytes is what they say: written again they are the same.
    let unexpected = flips(of: bytes) { flipped, _ in
      guard let entities = try? decode(flipped) else { return true }
      var again: ContiguousArray<UInt8> = []
      SchemaCodec.encode(entities, into: &again)
      return again.elementsEqual(flipped)
    }
    #expect(unexpected.isEmpty)
  }

  @Test
  func schemaChanges() throws {
    var partial = EntityChange(SampleSchema.entities[0])
    partial.isPartial = true
    partial.definition.indexes.removeFirst()
    partial.droppedIndexes = [6]
    let changes = [partial, EntityChange(SampleSchema.entities[1])]
    var bytes: ContiguousArray<UInt8> = []
    SchemaCodec.encode(changes, into: &bytes)
    func decode(_ bytes: UnsafeRawBufferPointer) throws(DecodeFault) -> [EntityChange] {
      var reader = ByteReader(bytes)
      let changes = try SchemaCodec.decodeChanges(&reader)
      try reader.expectEnd()
      return changes
    }
    #expect(try bytes.withUnsafeBytes { try decode($0) } == changes)
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in _ = try decode(prefix) }
    #expect(accepted.isEmpty)
    let unexpected = flips(of: bytes) { flipped, _ in
      guard let changes = try? decode(flipped) else { return true }
      var again: ContiguousArray<UInt8> = []
      SchemaCodec.encode(changes, into: &again)
      return again.elementsEqual(flipped)
    }
    #expect(unexpected.isEmpty)
  }

  @Test
  func directoriesAndTables() throws {
    let bytes = SampleDirectory.directory.encode()
    let decoded = try bytes.withUnsafeBytes { try CheckpointDirectory.decode($0) }
    #expect(decoded.encode() == bytes)
    #expect("\(decoded)" == "\(SampleDirectory.directory)")
    let accepted = truncations(of: bytes) { (prefix) throws(DecodeFault) in
      _ = try CheckpointDirectory.decode(prefix)
    }
    #expect(accepted.isEmpty)
    _ = flips(of: bytes) { flipped, _ in (try? CheckpointDirectory.decode(flipped)) == nil }
    var table: ContiguousArray<UInt8> = []
    TableCodec<String>.encode(["a", "b"], into: &table)
    #expect(try table.withUnsafeBytes { try TableCodec<String>.decode($0) } == ["a", "b"])
    let cut = truncations(of: table) { (prefix) throws(DecodeFault) in
      _ = try TableCodec<String>.decode(prefix)
    }
    #expect(cut.isEmpty)
  }

  @Test
  func largeValues() throws {
    let value = Array("value".utf8)
    var bytes: ContiguousArray<UInt8> = []
    value.withUnsafeBytes {
      var first = LargeValuePiece(number: 3, totalLength: 9, start: 0, bytes: $0)
      first.extensions = [7, 2, 1, 1]
      LargeValueCodec.encode(first, into: &bytes)
    }
    let items = try bytes.withUnsafeBytes { try LargeValueCodec.decode($0).extensions }
    #expect(items == [7, 2, 1, 1])
    for count in 0..<bytes.count {
      #expect(throws: DecodeFault.self) {
        let prefix = bytes.prefix(count)
        try prefix.withUnsafeBytes { _ = try LargeValueCodec.decode($0) }
      }
    }
    let part = try largeValuePiece(3, value, total: 9, start: 4).withUnsafeBytes { bytes in
      let part = try LargeValueCodec.decode(bytes)
      return (part.number, part.totalLength, part.start, part.withBytes { Array($0) })
    }
    #expect(part == (3, 9, 4, value))
    let beyond = ContiguousArray<UInt8>([3, 9, 5, 20] + Array("value".utf8))
    #expect(throws: DecodeFault.self) {
      _ = try beyond.withUnsafeBytes { try LargeValueCodec.decode($0).start }
    }
  }

  /// A piece is deflated where that saves a tenth, and is the same.
  @Test func deflatedPieces() throws {
    let text = ContiguousArray(String(repeating: "a text that repeats ", count: 500).utf8)
    var random = SeededRandom(seed: 7)
    let noise = ContiguousArray((0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) })
    for (bytes, isDeflated) in [(text, true), (noise, false), ([], false)] {
      var deflate = Deflate(level: 6)
      let raw = largeValuePiece(9, bytes)
      var payload: ContiguousArray<UInt8> = []
      try raw.withUnsafeBytes {
        LargeValueCodec.encode(try LargeValueCodec.decode($0), into: &payload, deflate: &deflate)
      }
      #expect(isDeflated ? payload.count < raw.count / 10 : payload == raw)
      try payload.withUnsafeBytes { payload in
        let piece = try LargeValueCodec.decode(payload)
        #expect(piece.isDeflated == isDeflated && piece.count == bytes.count)
        #expect(piece.withBytes { ContiguousArray($0) } == bytes)
      }
      for count in stride(from: 0, to: payload.count, by: 61) {
        #expect(throws: DecodeFault.self) {
          try payload.prefix(count).withUnsafeBytes { _ = try LargeValueCodec.decode($0) }
        }
      }
    }
  }
}
