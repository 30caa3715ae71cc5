import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Looks up which transaction a frame begins with.
enum FirstNumber {
  /// So many frames of large values may lie before the transaction that they belong to.
  private static let mostFramesBefore = 1 << 20

  /// The number of the first transaction in the unit that begins with the frame at `offset`, which
  /// may be one of a large value; nil if there is none, or the frame is a later part of one.
  static func ofFrame(at start: UInt64, in walk: inout FileWalk) throws(StorageError) -> Int64? {
    let headerLength = FormatLimits.frameHeaderLength
    guard let seed = walk.seed?.seed else { return nil }
    var offset = start
    var header: FrameHeader?
    for _ in 0..<mostFramesBefore {
      let bytes = try walk.bytes.copy(at: offset, count: headerLength)
      header = bytes.withUnsafeBytes { try? FrameHeader.decode($0, at: offset, seed: seed) }
      guard let blob = header, blob.kind == .blob else { break }
      offset += blob.frameLength
    }
    guard let header, FrameDecoding.holdsTransactions(header.kind) else { return nil }
    let payload = try walk.bytes.copy(
      at: offset + UInt64(headerLength), count: Int(header.payloadLength))
    return payload.withUnsafeBytes { bytes in
      if header.kind == .block {
        guard let summary = try? BlockCodec.decodeSummary(bytes), summary.part == 0 else {
          return nil
        }
        return summary.firstNumber
      }
      var reader = ByteReader(bytes)
      return try? reader.readVarInt64()
    }
  }
}
