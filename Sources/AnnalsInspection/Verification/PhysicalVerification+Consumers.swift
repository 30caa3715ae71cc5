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
}
