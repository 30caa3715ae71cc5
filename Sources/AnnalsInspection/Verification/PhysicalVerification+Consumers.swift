import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Consumers, retention and tombstones.

extension PhysicalVerification {
  mutating func checkConsumer(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let read = ConsumerCodec.decode(_:flags:)
    return try check(frame, in: region, as: .consumers, read) { verification, change in
      verification.consumers.check(
        change, at: region.offset, head: verification.knownHead,
        isAnnounced: outline.has(.consumers), &log)
    }
  }

  mutating func checkRetention(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let read = RetentionCodec.decode(_:flags:)
    return try check(frame, in: region, as: .consumers, read) { verification, policy in
      verification.consumers.check(
        policy, at: region.offset, isAnnounced: outline.has(.retention), &log)
    }
  }

  mutating func checkTombstones(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    var batch = ChangeBatch()
    return try check(frame, in: region, as: .tombstones) { (payload, flags) throws(DecodeFault) in
      try TombstoneCodec.decode(payload, flags: flags, into: &batch)
      return (length: payload.count, checksum: Checksum.crc32(payload))
    } check: { (verification, payload: (length: Int, checksum: UInt32)) in
      verification.tombstones.check(
        batch, payload: payload, at: region.offset, base: verification.header?.base,
        isAnnounced: outline.has(.tombstones),
        fault: verification.transactions.fault(ofTombstones: batch), &log)
    }
  }

  private mutating func check<Contents>(
    _ frame: WalkedFrame, in region: FileRegion, as use: ByteUse,
    _ read: (UnsafeRawBufferPointer, FrameFlags) throws(DecodeFault) -> Contents,
    check: (inout PhysicalVerification, Contents) -> Void
  ) throws(StorageError) -> DecodeFault? {
    switch try walk.decode(frame, in: region, read) {
    case .failure(let fault): return fault
    case .success(let contents):
      check(&self, contents)
      count(region, as: use)
      return nil
    }
  }
}
