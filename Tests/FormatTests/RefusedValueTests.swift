import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Values and numbers that no writer may write, wherever a file could hold them: a reader refuses
/// them, so that nobody behind it meets one.
struct RefusedValueTests {
  private typealias Bytes = ContiguousArray<UInt8>

  private func isRefused(_ decode: () throws -> Void) -> Bool {
    do {
      try decode()
      return false
    } catch {
      return error is DecodeFault
    }
  }

  private func batch(_ property: PropertyNumber, _ value: Value, count: Int = 1) -> ChangeBatch {
    var batch = ChangeBatch()
    for row in 1...count { batch.append(.insert, 1, Int64(row), [(property, .null, value)]) }
    batch.append(TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 0)))
    return batch
  }

  private func decodeRow(_ bytes: Bytes) throws {
    var batch = ChangeBatch()
    try bytes.withUnsafeBytes { try TransactionCodec.decode($0, into: &batch) }
  }

  /// By row, by column each and as one distinct value, and in chunks of doubles and of any kind.
  @Test(arguments: [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude])
  func doublesAreFinite(number: Double) throws {
    let expected = !number.isFinite
    #expect(isRefused { try decodeRow(batch(2, .double(number)).row()) } == expected)
    for count in [3, 100] {
      let block = batch(2, .double(number), count: count).block()
      var decoded = ChangeBatch()
      #expect(
        isRefused { try block.withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) } }
          == expected)
    }
    var presence = ContiguousArray<UInt64>(repeating: 0, count: RowPresence.maximumSpan / 64)
    presence[0] = ~0
    presence[1] = ~0
    for kind in [ColumnKind.double, .any] {
      var values = ColumnValues(kind: kind, rows: RowPresence(words: presence))
      for index in 0..<values.rows.count {
        let bits = index == 70 ? number.bitPattern : Double(index).bitPattern
        if kind == .double {
          values.words.append(bits)
        } else {
          values.tags.append(ValueTag.double.rawValue)
          values.lengths.append(8)
          values.bytes.append(fixed: bits)
        }
      }
      var chunk: Bytes = []
      var deflate = Deflate()
      ColumnChunkCodec.encode(
        values, entity: 1, property: 2, firstRow: 1, into: &chunk, deflate: &deflate)
      #expect(
        isRefused { try chunk.withUnsafeBytes { _ = try ColumnChunkCodec.decode($0) } } == expected)
    }
  }

  /// Kind 12 stands for an erased value, which has no bytes and no flags; the kinds behind it for
  /// nothing. By row, in columns of one kind and of several, and in chunks.
  @Test(arguments: 12..<16 as Range<UInt8>) func erasedValues(kind: UInt8) throws {
    var bytes = batch(2, .bool(true)).row()
    let place = bytes.count - 2
    #expect(bytes[place] == ValueTag.bool.rawValue)
    for flags in [0, ValueCodec.largeBit, ValueCodec.editsBit] {
      bytes[place] = kind | flags
      #expect(isRefused { try decodeRow(bytes) })
    }
    let tags: [Int64] = [1, Int64(kind)]
    var mixed: Bytes = [CellColumn.mixed]
    tags.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &mixed) }
    for column in [[kind], mixed] as [Bytes] {
      let zeros = Bytes(repeating: 0, count: 64)
      #expect(
        isRefused {
          var cells = Array(repeating: ValueCell.null, count: 2)
          var arena: Bytes = []
          try (column + zeros).withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var columns = CellReader(arenaLength: 0)
            try cells.withUnsafeMutableBufferPointer {
              try columns.decode(&reader, into: $0, arena: &arena)
            }
          }
        } == (kind != ValueTag.erased.rawValue))
    }
    var presence = ContiguousArray<UInt64>(repeating: 0, count: RowPresence.maximumSpan / 64)
    presence[0] = 1
    var values = ColumnValues(kind: .any, rows: RowPresence(words: presence))
    (values.tags, values.lengths, values.bytes) = ([kind], [4], [1, 2, 3, 4])
    for tag in [kind, ValueTag.string.rawValue] {
      values.tags = [tag]
      var chunk: Bytes = []
      var deflate = Deflate()
      ColumnChunkCodec.encode(
        values, entity: 1, property: 2, firstRow: 1, into: &chunk, deflate: &deflate)
      let found = isRefused {
        try chunk.withUnsafeBytes { _ = try ColumnChunkCodec.decode($0) }
      }
      #expect(found == (tag == kind))
    }
  }

  /// 8192 bytes have room for one number more than there may be.
  @Test
  func theGreatestPropertyNumber() throws {
    let limit = FormatLimits.maximumPropertyNumber
    var bytes = batch(limit, .bool(true)).row()
    try decodeRow(bytes)
    let place = try #require(bytes.lastIndex(of: 0x40))
    #expect(place == bytes.count - 3)
    bytes[place] = 0x80
    #expect(isRefused { try decodeRow(bytes) })
    var shapes: Bytes = [1, 0]
    shapes.append(varInt: 8192)
    shapes.append(contentsOf: repeatElement(0, count: 8191))
    for (last, expected) in [(UInt8(0x40), false), (0x80, true)] {
      let bytes = shapes + [last]
      let found = isRefused {
        try bytes.withUnsafeBytes {
          var reader = ByteReader($0)
          _ = try BlockShape.decode(&reader, limit: 1)
        }
      }
      #expect(found == expected)
    }
  }

  /// Metadata, defaults and rules have their values whole, and only metadata speaks of objects.
  @Test
  func valuesOutsideOfObjects() {
    let reference = ObjectReference(entity: 1, row: 1)
    let large = Value.large(LargeValue(tag: .string, number: 1, length: 5000, checksum: 1))
    for (value, inMetadata, inSchema) in [
      (Value.string("x"), false, false), (large, true, true), (.double(.nan), true, true),
      (.object(reference), false, true), (.objects([reference]), false, true),
    ] {
      var batch = ChangeBatch()
      var record = TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 0))
      record.metadata = [MetadataEntry(key: "k", value: value)]
      batch.transactions.append(record)
      #expect(isRefused { try decodeRow(batch.row()) } == inMetadata, "\(value)")
      var bound = Attribute("a", .any)
      bound.validation.minimum = value
      var choice = Attribute("a", .any)
      choice.validation.oneOf = [value]
      for var attribute in [Attribute("a", .any, default: value), bound, choice] {
        attribute.number = 1
        var entity = Entity("E", attributes: [attribute])
        entity.number = 1
        entity.nextPropertyNumber = 2
        var bytes: Bytes = []
        SchemaCodec.encode([entity], into: &bytes)
        let found = isRefused {
          try bytes.withUnsafeBytes {
            var reader = ByteReader($0)
            _ = try SchemaCodec.decode(&reader)
          }
        }
        #expect(found == inSchema, "\(value)")
      }
    }
  }

  /// A list has at most a million references, so none is at a later place.
  @Test(arguments: [UInt32(1 << 20 - 1), 1 << 20, .max])
  func positionsOfEdits(position: UInt32) {
    var batch = ChangeBatch()
    var record = TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 0))
    record.changeCount = 1
    var cells: [ValueCell] = []
    for row in Int64(1)...2 {
      let start = UInt64(batch.arena.count)
      withUnsafeBytes(of: position.littleEndian) { batch.arena.append(contentsOf: $0) }
      ObjectReference(entity: 1, row: row).append(to: &batch.arena)
      cells.append(ValueCell(tag: .objects, bits: start, length: 16))
    }
    batch.properties.append(
      PropertyChange(property: 1, before: cells[0], after: cells[1], isEdits: true))
    batch.changes.append(
      ChangeEntry(kind: .update, entity: 1, row: 1, firstProperty: 0, propertyCount: 1))
    batch.transactions.append(record)
    let block = batch.block()
    let isBeyond = position >= FormatLimits.maximumReferences
    #expect(isRefused { try decodeRow(batch.row()) } == isBeyond)
    let found = isRefused {
      var decoded = ChangeBatch()
      try block.withUnsafeBytes {
        try BlockCodec.decode($0, isContinued: false, into: &decoded)
      }
    }
    #expect(found == isBeyond)
  }

  /// A slot that names no checkpoint has no number of one.
  @Test
  func slotsWithoutCheckpoint() {
    let seed = FrameSeed(store: RawUUID(high: 1, low: 2), generation: 1)
    for (number, expected) in [(Int64(0), false), (1, true)] {
      var slot = RootSlot(sequence: 2, durableMark: 12_288, head: 7, markChecksum: 1)
      slot.checkpointNumber = number
      let bytes = slot.encode(seed: seed)
      let found = isRefused {
        try bytes.withUnsafeBytes { _ = try RootSlot.decode($0, index: 0, seed: seed) }
      }
      #expect(found == expected)
    }
  }
}
