import AnnalsModel

/// Encodes and decodes blocks: transactions by column, as written by compaction and for large
/// transactions.
///
/// A block is a summary that is never compressed, followed by columns, each stored raw or as one
/// deflate stream (`ChunkSection`): those of the transactions, the order of entities among the
/// changes, and for each entity the shapes of its changes, their rows, and for each property the
/// values before and the values after.
///
/// FORMAT.md, "Block records".
package enum BlockCodec {
  /// Appends all transactions of the batch, whose numbers follow one another; or, if its only
  /// transaction is a part (part > 0 or continued), that part. At most
  /// `FormatLimits.maximumChanges` transactions and changes and
  /// `FormatLimits.maximumPropertyChanges` properties; each change's properties rise by number.
  /// Columns are deflated with this level.
  package static func encode(
    _ batch: ChangeBatch, into bytes: inout ContiguousArray<UInt8>, level: Int32 = 1
  ) {
    precondition(
      batch.transactions.count <= FormatLimits.maximumChanges
        && batch.changes.count <= FormatLimits.maximumChanges
        && batch.properties.count <= FormatLimits.maximumPropertyChanges,
      "a block has a limit")
    var encoder = BlockEncoder(batch)
    encoder.encode(batch, into: &bytes, level: level)
  }

  /// Appends the block's transactions to the batch, with their changes or without, as
  /// `FrameHeader.decodeTransactions`. `isContinued` is the frame's flag. If it throws, the batch
  /// is as before.
  package static func decode(
    _ payload: UnsafeRawBufferPointer, isContinued: Bool = false, withChanges: Bool = true,
    into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    var decoder = BlockDecoder()
    try decoder.decode(
      payload, isContinued: isContinued, withChanges: withChanges, into: &batch)
  }

  /// Reads what the block says of its contents, without its columns.
  package static func decodeSummary(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> BlockSummary {
    var reader = ByteReader(payload)
    return try BlockSummary(&reader)
  }

  /// What a block of this batch says of its contents; `verify` compares it with what one says.
  package static func summary(of batch: ChangeBatch) -> BlockSummary {
    BlockEncoder(batch).summary
  }
}

extension FrameHeader {
  /// Appends the transactions in the payload of a transaction or block frame to the batch, with
  /// their changes or without: then the changes are not looked at, and the range that a record
  /// gives of them means nothing. Leaves the batch as it was if it throws.
  package func decodeTransactions(
    _ payload: UnsafeRawBufferPointer, withChanges: Bool = true, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    if kind == .transaction {
      try TransactionCodec.decode(payload, withChanges: withChanges, into: &batch)
    } else {
      try BlockCodec.decode(
        payload, isContinued: flags.contains(.continued), withChanges: withChanges, into: &batch)
    }
  }
}
