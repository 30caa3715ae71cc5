import AnnalsModel

/// Encodes and decodes tombstones, the deletes in pruned history: records of transactions in row
/// form that contain only the deletes and the preserved values of each.
///
/// FORMAT.md, "Tombstones". Values of pruned history are in these payloads and in the base, and
/// nowhere else: whatever alters such values must alter both.
package enum TombstoneCodec {
  /// How long a payload grows before the next is begun.
  package static let targetLength = 256 << 10

  /// Appends a record: the batch's transaction at `index`, which has deletes alone, and no details.
  package static func append(
    _ batch: ChangeBatch, transaction index: Int, to payload: inout ContiguousArray<UInt8>
  ) {
    var record: ContiguousArray<UInt8> = []
    TransactionCodec.encode(batch, transaction: index, into: &record)
    record.withUnsafeBytes { payload.append(sized: $0) }
  }

  /// Reads the payload of a frame with these flags: puts its records into the batch, in place of
  /// what was there. Numbers rise; of one transaction there may be several records.
  package static func decode(
    _ payload: UnsafeRawBufferPointer, flags: FrameFlags, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    batch.removeAll()
    guard flags.contains(.skippable) else {
      throw .invalid(at: 0, reason: "tombstones that are not skippable")
    }
    var reader = ByteReader(payload)
    repeat {
      let start = reader.offset
      let before = batch.changes.count
      try TransactionCodec.decode(try reader.readSizedBytes(), into: &batch)
      let last = batch.transactions.count - 1
      guard batch.transactions[last].isPlain, batch.changes.count > before else {
        throw .invalid(at: start, reason: "a record of something else than deletes")
      }
      guard last == 0 || batch.transactions[last - 1].number <= batch.transactions[last].number
      else { throw .invalid(at: start, reason: "tombstones out of order") }
      guard batch.changes[before...].allSatisfy({ $0.kind == .delete }) else {
        throw .invalid(at: start, reason: "a tombstone that is no delete")
      }
      guard batch.changes.count <= FormatLimits.maximumChanges,
        batch.properties.count <= FormatLimits.maximumPropertyChanges
      else { throw .tooLarge(at: start, limit: UInt64(FormatLimits.maximumChanges)) }
    } while reader.remaining > 0
  }
}
