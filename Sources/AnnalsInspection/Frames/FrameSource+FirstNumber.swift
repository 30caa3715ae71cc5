import AnnalsFormat
import AnnalsModel
import AnnalsStorage

extension FrameSource {
  /// The number of the first transaction in the unit that begins with the frame at `start`, which
  /// may hold a large value; 0 if there is no transaction, or only a later part of one.
  ///
  /// Adds it to `known` for each frame passed on the way, so that none is read twice.
  func firstNumber(
    ofUnitAt start: UInt64, _ known: inout [UInt64: Int64]
  ) throws(StorageError) -> Int64 {
    var passed: [UInt64] = []
    var offset = start
    var number = known[offset]
    while number == nil {
      passed.append(offset)
      let header = try header(at: offset)
      if let header, header.kind == .largeValue {
        offset += header.frameLength
        number = known[offset]
      } else {
        number = try firstNumber(behind: header, at: offset) ?? 0
      }
    }
    for offset in passed { known[offset] = number }
    return number ?? 0
  }

  /// The number of the first transaction in a frame; nil if it holds none, or only a later part.
  private func firstNumber(
    behind header: FrameHeader?, at offset: UInt64
  ) throws(StorageError) -> Int64? {
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
