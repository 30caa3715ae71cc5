import AnnalsModel

/// Encodes and decodes one transaction in row form, as appended by a small commit. Decodes without
/// other frames.
///
/// FORMAT.md, "Transaction records".
package enum TransactionCodec {
  /// How many bytes a transaction takes besides its changes and its numbers. Costs their encoding.
  package static func detailsLength(of record: TransactionRecord) -> Int {
    RecordDetails.length(of: record)
  }

  /// Appends the record of the batch's transaction at `index`, which is whole (part 0, not
  /// continued).
  package static func encode(
    _ batch: ChangeBatch, transaction index: Int, into bytes: inout ContiguousArray<UInt8>
  ) {
    let record = batch.transactions[index]
    precondition(record.part == 0 && !record.isContinued, "the row form has no parts")
    bytes.append(varInt: UInt64(record.number))
    bytes.append(zigzag: record.timestamp.microseconds)
    bytes.append(varInt: UInt64(record.author))
    bytes.append(varInt: UInt64(record.context))
    bytes.append(varInt: UInt64(record.opening))
    RecordDetails.encode(record, into: &bytes)
    bytes.append(count: Int(record.changeCount))
    var previousRow: Int64 = 0
    batch.arena.withUnsafeBytes { arena in
      batch.properties.withUnsafeBufferPointer { properties in
        for change in batch.changes[record.changeRange] {
          bytes.append(varInt: UInt64(change.entity) << 2 | UInt64(change.kind.rawValue))
          bytes.append(zigzag: change.row &- previousRow)
          previousRow = change.row
          encodeProperties(
            properties[change.propertyRange], kind: change.kind, in: arena, into: &bytes)
        }
      }
    }
  }

  private static func encodeProperties(
    _ properties: Slice<UnsafeBufferPointer<PropertyChange>>, kind: ChangeKind,
    in arena: UnsafeRawBufferPointer, into bytes: inout ContiguousArray<UInt8>
  ) {
    PropertyVector.encode(properties.lazy.map(\.property), into: &bytes)
    for property in properties {
      if kind != .insert {
        ValueCodec.encode(property.before, in: arena, isEdits: property.isEdits, into: &bytes)
      }
      if kind != .delete {
        ValueCodec.encode(property.after, in: arena, isEdits: property.isEdits, into: &bytes)
      }
    }
  }

  /// Appends the transaction in `payload` to the batch, with its changes or without, as
  /// `FrameHeader.decodeTransactions`. If it throws, the batch is as before.
  package static func decode(
    _ payload: UnsafeRawBufferPointer, withChanges: Bool = true, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    let mark = BatchMark(batch)
    do {
      var reader = ByteReader(payload)
      try decodeRecord(&reader, into: &batch)
      guard withChanges else { return }
      try decodeChanges(&reader, into: &batch)
      try reader.expectEnd()
    } catch {
      mark.restore(&batch)
      throw error
    }
  }

  private static func decodeRecord(
    _ reader: inout ByteReader, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    let number = try reader.readVarInt64()
    guard number > 0 else { throw reader.invalid("a transaction without a number") }
    let timestamp = Timestamp(microseconds: try reader.readZigzag())
    var record = TransactionRecord(number: number, timestamp: timestamp)
    record.author = try reader.readVarUInt32()
    record.context = try reader.readVarUInt32()
    record.opening = try reader.readVarUInt32()
    try RecordDetails.decode(&reader, into: &record)
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 3)
    record.firstChange = UInt32(truncatingIfNeeded: batch.changes.count)
    record.changeCount = UInt32(count)
    batch.transactions.append(record)
  }

  /// Appends the changes of the last record.
  private static func decodeChanges(
    _ reader: inout ByteReader, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    let count = batch.transactions[batch.transactions.count - 1].changeCount
    var previousRow: Int64 = 0
    let limit = batch.properties.count + FormatLimits.maximumPropertyChanges
    // One copy of all that is left, in which the values' bytes stay where they are.
    let base = batch.arena.count - reader.offset
    batch.arena.append(contentsOf: reader.rest)
    for _ in 0..<count {
      try decodeChange(
        &reader, base: base, previousRow: &previousRow, limit: limit, into: &batch)
    }
  }

  private static func decodeChange(
    _ reader: inout ByteReader, base: Int, previousRow: inout Int64, limit: Int,
    into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    let start = reader.offset
    let head = try reader.readVarInt()
    guard let kind = ChangeKind(rawValue: UInt8(head & 3)) else {
      throw .newer(at: start, reason: "a kind of change")
    }
    guard let entity = EntityNumber(exactly: head >> 2), entity > 0 else {
      throw .invalid(at: start, reason: "an entity that none can have")
    }
    let row = previousRow &+ (try reader.readZigzag())
    guard row > 0 else { throw reader.invalid("a row that is not positive") }
    previousRow = row
    let vector = try PropertyVector.read(&reader)
    let first = batch.properties.count
    for (index, byte) in vector.enumerated() {
      var bits = UInt32(byte)
      guard bits.nonzeroBitCount <= limit - batch.properties.count else {
        throw .tooLarge(at: start, limit: UInt64(FormatLimits.maximumPropertyChanges))
      }
      while bits != 0 {
        let property = PropertyNumber(index * 8 + bits.trailingZeroBitCount + 1)
        bits &= bits &- 1
        batch.properties.append(
          try decodeProperty(&reader, property, kind: kind, base: base, arena: &batch.arena))
      }
    }
    batch.changes.append(
      ChangeEntry(
        kind: kind, entity: entity, row: row, firstProperty: first,
        propertyCount: batch.properties.count - first))
  }

  @inline(__always)
  private static func decodeProperty(
    _ reader: inout ByteReader, _ property: PropertyNumber, kind: ChangeKind, base: Int,
    arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) -> PropertyChange {
    let start = reader.offset
    let none = (cell: ValueCell.null, isEdits: false)
    let before =
      kind == .insert ? none : try ValueCodec.decode(&reader, arena: &arena, base: base)
    let after =
      kind == .delete ? none : try ValueCodec.decode(&reader, arena: &arena, base: base)
    let isEdits = before.isEdits || after.isEdits
    // Edits are told for both sides at once, and only of objects that stay.
    guard !isEdits || (kind == .update && before.isEdits && after.isEdits) else {
      throw .invalid(at: start, reason: "edits where a value belongs")
    }
    return PropertyChange(
      property: property, before: before.cell, after: after.cell, isEdits: isEdits)
  }
}

/// How long a batch's arrays were before a record was decoded into it.
struct BatchMark {
  private let transactions, changes, properties, arena, sharedTexts: Int

  init(_ batch: ChangeBatch) {
    transactions = batch.transactions.count
    changes = batch.changes.count
    properties = batch.properties.count
    arena = batch.arena.count
    sharedTexts = batch.sharedTexts.count
  }

  /// Drops what was added since.
  func restore(_ batch: inout ChangeBatch) {
    batch.transactions.removeSubrange(transactions...)
    batch.changes.removeSubrange(changes...)
    batch.properties.removeSubrange(properties...)
    batch.arena.removeSubrange(arena...)
    batch.sharedTexts.removeSubrange(sharedTexts...)
  }
}
