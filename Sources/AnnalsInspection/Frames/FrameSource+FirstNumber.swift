import AnnalsFormat
import AnnalsModel
import AnnalsStorage

extension FrameSource {
  /// At most this many frames of large values may precede the transaction that they belong to.
  private static let mostFramesBefore = 1 << 20

  /// The number of the first transaction in the unit that begins with the frame at `start`, which
  /// may hold a large value; nil if there is no transaction, or only a later part of one.
  func firstNumber(ofUnitAt start: UInt64) throws(StorageError) -> Int64? {
    var offset = start
    var header: FrameHeader?
    for _ in 0..<FrameSource.mostFramesBefore {
      header = try self.header(at: offset)
      guard let largeValue = header, largeValue.kind == .largeValue else { break }
      offset += largeValue.frameLength
    }
    guard let header, header.kind.holdsTransactions else { return nil }
    return try payload(behind: header, at: offset).withUnsafeBytes { bytes in
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
