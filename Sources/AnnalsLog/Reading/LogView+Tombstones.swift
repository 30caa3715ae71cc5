import AnnalsFormat
import AnnalsModel

// Tombstones: deletes in pruned history that the base remembers. See FORMAT.md, "Tombstones".

extension LogView {
  /// Which deletes in pruned history are remembered, and where; nil if none are. Reads the base's
  /// directory; throws `damage` or `decode` if that is damaged.
  package func tombstones() throws(LogError) -> KeptTombstones? {
    try baseDirectory()?.tombstones
  }

  /// Fills the batch, in place of its content, with the deletes of one frame. Throws `damage` or
  /// `decode` if the frame is not what the directory says.
  package func read(
    tombstones reference: ChunkReference, into batch: inout ChangeBatch
  ) throws(LogError) {
    let (flags, bytes) = try file.tombstones(reference)
    try bytes.decoded(at: reference.offset) { bytes throws(DecodeFault) in
      try TombstoneCodec.decode(bytes, flags: flags, into: &batch)
    }
    guard batch.changes.count == Int(reference.count),
      batch.transactions.last?.number ?? 0 <= base
    else { throw .damage(at: reference.offset, "the tombstones are not those referred to") }
  }
}

extension ConsumerTable {
  /// The least that any blocking consumer with a running lease has read; nil if there is no such
  /// consumer.
  func leastWaitedFor(at moment: Timestamp, in view: LogView) -> Int64? {
    list.lazy.filter { consumer in
      consumer.isBlocking
        && consumer.isLeaseRunning(
          at: moment, since: view.leaseStart(of: consumer, now: moment))
    }.map(\.number).min()
  }
}
