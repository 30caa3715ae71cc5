import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// A frame read by itself, at a place that something names: its header and payload match.
package struct SingleFrame: Sendable {
  package let header: FrameHeader
  package let payload: ContiguousArray<UInt8>
  /// The crc32 of the payload by itself.
  package let checksum: UInt32

  /// Whether a reference to a chunk or to tombstones names this frame.
  package func isNamed(by reference: ChunkReference) -> Bool {
    payload.count == Int(reference.length) && checksum == reference.checksum
  }
}

/// The result of reading a single frame.
package enum SingleFrameStep: Sendable {
  case frame(SingleFrame)
  /// No frame begins there, or one of another kind than wanted.
  case absent
  /// The file ends within the frame.
  case cut
  /// The payload does not match its header.
  case changed

  /// The frame; nil if it is not whole.
  package var frame: SingleFrame? { if case .frame(let frame) = self { frame } else { nil } }
}

extension FileWindow {
  /// The header of the frame at `offset`; nil if there is none. Leaves the window where it is.
  package mutating func frameHeader(
    at offset: UInt64, seed: FrameSeed
  ) throws(StorageError) -> FrameHeader? {
    let bytes = try copy(at: offset, count: FormatLimits.frameHeaderLength)
    return bytes.withUnsafeBytes { try? FrameHeader.decode($0, at: offset, seed: seed) }
  }

  /// Reads the frame at `offset`, of this kind or of any, and checks everything. Leaves the window
  /// where it is. Memory: the payload, never more than the file has.
  package mutating func frame(
    at offset: UInt64, seed: FrameSeed, kind: FrameKind? = nil
  ) throws(StorageError) -> SingleFrameStep {
    guard let header = try frameHeader(at: offset, seed: seed), kind ?? header.kind == header.kind
    else { return .absent }
    let start = offset + UInt64(FormatLimits.frameHeaderLength)
    guard size >= start, size - start >= UInt64(header.payloadLength) else { return .cut }
    let payload = try copy(at: start, count: Int(header.payloadLength))
    let crc = payload.withUnsafeBytes { Checksum.crc32($0) }
    guard payload.count == Int(header.payloadLength),
      seed.checksum(ofBytesWith: crc, count: payload.count, at: offset) == header.payloadChecksum
    else { return .changed }
    return .frame(SingleFrame(header: header, payload: payload, checksum: crc))
  }
}
