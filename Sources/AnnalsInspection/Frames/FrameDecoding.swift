import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

extension FileWalk {
  /// Access to single frames of the file; nil if the seed of their checksums is unknown.
  package var frames: FrameSource? { seed.map { FrameSource(log.bytes, seed: $0) } }

  /// Decodes a frame with `read`, from its payload, as far as the file has it, and its flags.
  package mutating func decode<Contents>(
    _ frame: InspectedFrame, in region: FileRegion,
    _ read: (UnsafeRawBufferPointer, FrameFlags) throws(DecodeFault) -> Contents
  ) throws(StorageError) -> Result<Contents, DecodeFault> {
    try withPayload(of: frame, at: region.offset) { payload in
      Result { () throws(DecodeFault) in try read(payload, frame.header.flags) }
    }
  }

  /// Decodes a transaction or block frame into `batch`, in place of what was there; returns what is
  /// wrong with it, nil if nothing is.
  package mutating func decode(
    _ frame: InspectedFrame, in region: FileRegion, into batch: inout ChangeBatch
  ) throws(StorageError) -> DecodeFault? {
    batch.removeAll()
    return try decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try frame.header.decodeTransactions(payload, into: &batch)
    }.fault
  }
}

extension Result where Failure == DecodeFault {
  /// What is wrong; nil if nothing is.
  package var fault: DecodeFault? { if case .failure(let fault) = self { fault } else { nil } }
}

extension Int64 {
  /// The number behind this one.
  package var successor: Int64 { self + 1 }
}
