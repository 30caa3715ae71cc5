import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Frames about consumers, and about what is kept for them.

extension PhysicalVerification {
  mutating func takeConsumer(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let read = ConsumerCodec.decode(_:flags:)
    return try take(frame, in: region, as: .consumers, read) { verification, change in
      verification.consumers.take(
        change, at: region.offset, head: verification.knownHead,
        isAnnounced: outline.has(.consumers), &log)
    }
  }

  mutating func takeRetention(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let read = RetentionCodec.decode(_:flags:)
    return try take(frame, in: region, as: .consumers, read) { verification, policy in
      verification.consumers.take(
        policy, at: region.offset, isAnnounced: outline.has(.retention), &log)
    }
  }

  mutating func takeTombstones(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    var batch = ChangeBatch()
    return try take(frame, in: region, as: .tombstones) { (payload, flags) throws(DecodeFault) in
      try TombstoneCodec.decode(payload, flags: flags, into: &batch)
      return (length: payload.count, checksum: Checksum.crc32(payload))
    } judge: { (verification, payload: (length: Int, checksum: UInt32)) in
      verification.tombstones.take(
        batch, payload: payload, at: region.offset, base: verification.header?.base,
        isAnnounced: outline.has(.tombstones),
        fault: verification.transactions.fault(ofTombstones: batch), &log)
    }
  }

  private mutating func take<Contents>(
    _ frame: WalkedFrame, in region: FileRegion, as use: FileStatistics.Use,
    _ read: (UnsafeRawBufferPointer, FrameFlags) throws(DecodeFault) -> Contents,
    judge: (inout PhysicalVerification, Contents) -> Void
  ) throws(StorageError) -> DecodeFault? {
    switch try walk.decode(frame, in: region, read) {
    case .failure(let fault): return fault
    case .success(let contents):
      judge(&self, contents)
      statistics.count(region, as: use)
      return nil
    }
  }
}
