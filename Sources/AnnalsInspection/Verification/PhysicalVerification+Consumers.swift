import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Frames about consumers, and about what is kept for them.

extension PhysicalVerification {
  mutating func takeConsumer(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let flags = frame.header.flags
    let decoded = try walk.withPayload(of: frame, at: region.offset) { payload in
      Result { () throws(DecodeFault) in try ConsumerCodec.decode(payload, flags: flags) }
    }
    switch decoded {
    case .failure(let fault): return fault
    case .success(let change):
      consumers.take(
        change, at: region.offset, head: knownHead, isAnnounced: outline.has(.consumers), &log)
      statistics.count(region, as: .consumers)
      return nil
    }
  }

  mutating func takeRetention(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let flags = frame.header.flags
    let decoded = try walk.withPayload(of: frame, at: region.offset) { payload in
      Result { () throws(DecodeFault) in try RetentionCodec.decode(payload, flags: flags) }
    }
    switch decoded {
    case .failure(let fault): return fault
    case .success(let policy):
      consumers.take(policy, at: region.offset, isAnnounced: outline.has(.retention), &log)
      statistics.count(region, as: .consumers)
      return nil
    }
  }

  mutating func takeTombstones(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let flags = frame.header.flags
    var decoded = ChangeBatch()
    swap(&decoded, &batch)
    let found = try walk.withPayload(of: frame, at: region.offset) { payload in
      Result { () throws(DecodeFault) in
        try TombstoneCodec.decode(payload, flags: flags, into: &decoded)
        return (length: payload.count, checksum: Checksum.crc32(payload))
      }
    }
    swap(&decoded, &batch)
    switch found {
    case .failure(let fault): return fault
    case .success(let payload):
      tombstones.take(
        batch, payload: payload, at: region.offset, base: header?.base,
        isAnnounced: outline.has(.tombstones), fault: transactions.fault(ofTombstones: batch), &log)
      statistics.count(region, as: .tombstones)
      return nil
    }
  }
}
