import AnnalsFormat
import AnnalsModel

// Deletes of dropped history that the base remembers: FORMAT.md, "Tombstones".

extension LogView {
  /// Which deletes of dropped history are remembered, and where; nil if none are. Reads the base's
  /// directory; throws `damage` or `decode` if that does not hold.
  package func tombstones() throws(LogError) -> KeptTombstones? {
    try baseDirectory()?.tombstones
  }

  /// Puts the deletes of one frame into the batch, in place of what was there. Throws `damage` or
  /// `decode` if the frame is not what the directory says.
  package func read(
    tombstones reference: ChunkReference, into batch: inout ChangeBatch
  ) throws(LogError) {
    let (flags, bytes) = try file.tombstones(reference)
    do {
      try bytes.withBytes { bytes throws(DecodeFault) in
        try TombstoneCodec.decode(bytes, flags: flags, into: &batch)
      }
    } catch {
      throw .decode(error, at: reference.offset)
    }
    guard batch.changes.count == Int(reference.count),
      batch.transactions.last?.number ?? 0 <= base
    else {
      throw .damage(
        LogDamage(offset: reference.offset, reason: "the tombstones are not those referred to"))
    }
  }
}

extension ConsumerTable {
  /// The least that any consumer has seen of those that are waited for at a moment: blocking, with
  /// a lease that runs. Nil if there is none.
  func leastWaitedFor(at moment: Timestamp) -> Int64? {
    list.lazy.filter { $0.isBlocking && $0.isLeaseRunning(at: moment) }.map(\.number).min()
  }
}
