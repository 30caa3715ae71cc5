import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Side records and tombstones.

extension PhysicalVerification {
  mutating func checkSideRecord(
    _ frame: InspectedFrame, in region: FileRegion, _ outline: OutlineChecks,
    _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let kind = frame.header.kind
    return try check(frame, in: region, as: .consumers) { (payload, flags) throws(DecodeFault) in
      try SideRecord(payload, of: kind, flags: flags)
    } check: { (verification, record: SideRecord) in
      verification.sideRecords.check(
        record, at: region.offset, head: verification.knownHead,
        isAnnounced: outline.has(kind.feature), &log)
    }
  }

  mutating func checkTombstones(
    _ frame: InspectedFrame, in region: FileRegion, _ outline: OutlineChecks,
    _ log: inout FindingLog
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
    _ frame: InspectedFrame, in region: FileRegion, as use: ByteUse,
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
