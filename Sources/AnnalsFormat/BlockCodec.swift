import AnnalsModel

/// Transactions by column: what compaction and large transactions write.
///
/// FORMAT.md, "Block records".
package enum BlockCodec {
  /// Appends all transactions of the batch, whose numbers follow one another; or, if its only
  /// transaction is a part (part > 0 or continued), that part. At most
  /// `FormatLimits.maximumChanges` transactions and changes and
  /// `FormatLimits.maximumPropertyChanges` properties.
  package static func encode(_ batch: ChangeBatch, into bytes: inout ContiguousArray<UInt8>) {
    // Provisional: by row.
    let isPart = batch.transactions.contains { $0.part > 0 || $0.isContinued }
    bytes.append(isPart ? 1 : 0)
    bytes.append(varInt: UInt64(batch.transactions[0].part))
    bytes.append(count: batch.transactions.count)
    for index in batch.transactions.indices {
      var whole = batch
      whole.transactions[index].part = 0
      whole.transactions[index].isContinued = false
      var record: ContiguousArray<UInt8> = []
      TransactionCodec.encode(whole, transaction: index, into: &record)
      record.withUnsafeBytes { bytes.append(sized: $0) }
    }
  }

  /// Appends the block's transactions to the batch. `isContinued` is the frame's flag. If it throws,
  /// the batch is as before.
  package static func decode(
    _ payload: UnsafeRawBufferPointer, isContinued: Bool = false, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    var reader = ByteReader(payload)
    let isPart = try reader.readUInt8() == 1
    let part = try reader.readVarUInt32()
    let count = try reader.readCount(limit: FormatLimits.maximumChanges)
    for _ in 0..<count {
      try TransactionCodec.decode(try reader.readSizedBytes(), into: &batch)
      if isPart, let last = batch.transactions.indices.last {
        batch.transactions[last].part = part
        batch.transactions[last].isContinued = isContinued
      }
    }
    try reader.expectEnd()
  }

  /// Reads what the block says of its contents, without its columns.
  package static func decodeSummary(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> BlockSummary {
    var batch = ChangeBatch()
    try decode(payload, into: &batch)
    guard let first = batch.transactions.first, let last = batch.transactions.last else {
      throw .invalid(at: 0, reason: "an empty block")
    }
    let times = batch.transactions.map(\.timestamp)
    var summary = BlockSummary(
      firstNumber: first.number, lastNumber: last.number, isPart: payload[0] == 1,
      part: first.part, minimumTimestamp: times.min() ?? first.timestamp,
      maximumTimestamp: times.max() ?? first.timestamp, changeCount: batch.changes.count)
    summary.authors = Set(batch.transactions.map(\.author)).sorted()
    summary.contexts = Set(batch.transactions.map(\.context)).sorted()
    for entity in Set(batch.changes.map(\.entity)).sorted() {
      let changes = batch.changes.filter { $0.entity == entity }
      let properties = changes.flatMap { batch.properties[$0.propertyRange].map(\.property) }
      summary.entities.append(
        BlockSummary.EntitySummary(
          entity: entity, changeCount: changes.count, minimumRow: changes.map(\.row).min() ?? 0,
          maximumRow: changes.map(\.row).max() ?? 0,
          kinds: changes.reduce(0) { $0 | 1 << $1.kind.rawValue },
          properties: Set(properties).sorted()))
    }
    return summary
  }
}
