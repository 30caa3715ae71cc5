import AnnalsFormat
import AnnalsModel

/// The decoders of single structures. What decodes is encoded and decoded again.
enum FuzzDecoders {
  /// A slot of these bytes, padded with zeros, with a valid checksum.
  static func slots(_ bytes: UnsafeRawBufferPointer) {
    let seed = FrameSeed(store: RawUUID(high: 1, low: 2), generation: 1)
    for index in 0..<2 {
      var block = ContiguousArray(bytes.prefix(FormatLimits.blockLength - 4))
      block.append(contentsOf: repeatElement(0, count: FormatLimits.blockLength - 4 - block.count))
      let sum = block.withUnsafeBytes {
        seed.checksum($0, at: FormatLimits.slotOffsets[index])
      }
      withUnsafeBytes(of: sum.littleEndian) { block.append(contentsOf: $0) }
      let slot = block.withUnsafeBytes { try? RootSlot.decode($0, index: index, seed: seed) }
      if let slot { precondition(slot.encode(seed: seed) == block, "a slot that reads otherwise") }
    }
  }

  static func record(_ bytes: UnsafeRawBufferPointer) {
    var batch = ChangeBatch()
    guard (try? TransactionCodec.decode(bytes, into: &batch)) != nil else {
      precondition(batch.transactions.isEmpty, "a record that failed left something")
      return
    }
    var again: ContiguousArray<UInt8> = []
    TransactionCodec.encode(batch, transaction: 0, into: &again)
    var second = ChangeBatch()
    var third: ContiguousArray<UInt8> = []
    let isRead = again.withUnsafeBytes { try? TransactionCodec.decode($0, into: &second) } != nil
    if isRead { TransactionCodec.encode(second, transaction: 0, into: &third) }
    precondition(again == third, "a record that reads otherwise when written again")
  }

  static func block(_ bytes: UnsafeRawBufferPointer) {
    _ = try? BlockCodec.decodeSummary(bytes)
    for isContinued in [false, true] {
      var batch = ChangeBatch()
      guard
        (try? BlockCodec.decode(bytes, isContinued: isContinued, into: &batch)) != nil
      else {
        precondition(batch.transactions.isEmpty, "a block that failed left something")
        continue
      }
      var again: ContiguousArray<UInt8> = []
      BlockCodec.encode(batch, into: &again)
      guard again.count <= FormatLimits.maximumPayload else { continue }
      var second = ChangeBatch()
      var third: ContiguousArray<UInt8> = []
      let isRead =
        again.withUnsafeBytes {
          try? BlockCodec.decode($0, isContinued: isContinued, into: &second)
        } != nil
      if isRead { BlockCodec.encode(second, into: &third) }
      precondition(again == third, "a block that reads otherwise when written again")
    }
  }

  static func directory(_ bytes: UnsafeRawBufferPointer) {
    guard let directory = try? CheckpointDirectory.decode(bytes) else { return }
    precondition(directory.encode() == ContiguousArray(bytes), "a directory that reads otherwise")
  }

  static func chunk(_ bytes: UnsafeRawBufferPointer) {
    if let (header, values) = try? ColumnChunkCodec.decode(bytes) {
      var again: ContiguousArray<UInt8> = []
      var deflate = Deflate()
      ColumnChunkCodec.encode(
        values, entity: header.entity, property: header.property, firstRow: header.firstRow,
        into: &again, deflate: &deflate)
      precondition(
        again.withUnsafeBytes { try? ColumnChunkCodec.decode($0) } != nil,
        "a chunk that cannot be read when written again")
    }
    _ = try? RowsChunkCodec.decode(bytes)
    _ = try? IndexChunkCodec.decode(bytes)
    _ = try? TableCodec<String>.decode(bytes)
    _ = try? TableCodec<Opening>.decode(bytes)
    _ = try? TableCodec<LargeValueEntry>.decode(bytes)
    _ = try? TableCodec<SchemaHistoryEntry>.decode(bytes)
    _ = try? TableCodec<HistoryIndexEntry>.decode(bytes)
    for entry in (try? TableCodec<SegmentObjects>.decode(bytes)) ?? [] { _ = try? entry.ranges() }
  }

  /// A count in two bytes, then a column of that many values; and an envelope around one.
  static func columns(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 2 else { return }
    let count = Int(bytes[0]) | Int(bytes[1]) << 8
    let column = UnsafeRawBufferPointer(rebasing: bytes[2...])
    var output = [ValueCell](repeating: .null, count: count)
    var arena: ContiguousArray<UInt8> = []
    output.withUnsafeMutableBufferPointer { output in
      var reader = ByteReader(column)
      var cells = CellReader(arenaLength: 0)
      try? cells.decode(&reader, into: output, arena: &arena)
    }
    var reader = ByteReader(column)
    var envelopes = ColumnReader()
    while (try? envelopes.read(&reader)) != nil {}
    var numbers = [Int64](repeating: 0, count: count)
    reader = ByteReader(column)
    numbers.withUnsafeMutableBufferPointer { try? IntegerColumn.decode(&reader, into: $0) }
  }

  static let columnSeeds: [ContiguousArray<UInt8>] = [
    [3, 0, 2, 0, 0, 2, 0b10_01_00], [3, 0, 4, 0, 2, 2, 4, 6, 65, 66, 66, 67, 67, 67],
    [2, 0, 4, 1, 2, 6, 8, 2, 4, 97, 98, 99, 100, 101], [3, 0, 4, 2, 1, 0, 2, 2, 65, 0, 0, 0],
    [2, 0, 10, 2, 2, 2, 2, 2, 4], [2, 0, 11, 2, 2, 4, 2, 2, 2, 2, 4, 6],
    [2, 0, 255, 2, 2, 4, 2, 6, 8, 0, 2, 65], [1, 0, 6, 0] + ContiguousArray(0..<16),
    [2, 0, 20, 0] + ContiguousArray(0..<40), [4, 0, 1, 0, 0, 1, 0b1010],
    [2, 0, 43, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2, 4],
  ]

  static func schema(_ bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    guard let entities = try? SchemaCodec.decode(&reader) else { return }
    var again: ContiguousArray<UInt8> = []
    SchemaCodec.encode(entities, into: &again)
    precondition(
      again.elementsEqual(bytes.prefix(again.count)), "a schema that reads otherwise")
  }

  static func schemaSeeds(in payloads: [ContiguousArray<UInt8>]) -> [ContiguousArray<UInt8>] {
    payloads.compactMap { payload in
      guard let directory = payload.withUnsafeBytes({ try? CheckpointDirectory.decode($0) })
      else { return nil }
      var bytes: ContiguousArray<UInt8> = []
      SchemaCodec.encode(directory.schema.entities, into: &bytes)
      return bytes
    }
  }
}
