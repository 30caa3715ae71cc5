import AnnalsModel

/// Encodes and decodes the sections of chunks and large values: runs of bytes, raw or deflated,
/// whichever is worth it (`SectionHeader`).
enum ChunkSection {
  /// Below this, deflating saves nothing that matters.
  private static let worthDeflating = 48
  /// Above this, a sample decides whether deflating is tried at all.
  private static let sampled = 4096
  private static let sampleLength = 1024

  /// Appends a section that holds `bytes`.
  static func append(
    _ bytes: UnsafeRawBufferPointer, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate
  ) {
    if isPromising(bytes, deflate: &deflate) {
      var packed: ContiguousArray<UInt8> = []
      if deflate.compressIfWorthwhile(bytes, into: &packed) {
        SectionHeader(length: bytes.count, compression: .deflate).append(to: &output)
        packed.withUnsafeBytes { output.append(sized: $0) }
        return
      }
    }
    SectionHeader(length: bytes.count, compression: .none).append(to: &output)
    output.append(contentsOf: bytes)
  }

  /// Appends a section that holds `bytes`.
  static func append(
    _ bytes: ContiguousArray<UInt8>, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate
  ) {
    bytes.withUnsafeBytes { append($0, to: &output, deflate: &deflate) }
  }

  /// Whether deflating the bytes may save a tenth: judged by a sample from their middle, since
  /// random bytes (UUIDs, mantissas) cost the compressor the most and give nothing.
  static func isPromising(_ bytes: UnsafeRawBufferPointer, deflate: inout Deflate) -> Bool {
    guard bytes.count >= worthDeflating else { return false }
    guard bytes.count > sampled else { return true }
    // Aligned, so that the sample begins where a value of a power-of-two width does.
    let start = (bytes.count - sampleLength) / 2 & ~15
    let sample = UnsafeRawBufferPointer(rebasing: bytes[start..<start + sampleLength])
    var scratch: ContiguousArray<UInt8> = []
    return deflate.compress(sample, into: &scratch, limit: sampleLength * 15 / 16)
  }

  /// Reads a section of at most `limit` bytes.
  static func read(
    _ reader: inout ByteReader, limit: Int, inflate: inout Inflate
  ) throws(DecodeFault) -> ContiguousArray<UInt8> {
    let start = reader.offset
    let header = try SectionHeader(&reader, limit: limit)
    let count = header.length
    guard header.compression == .deflate else {
      return ContiguousArray(try reader.readBytes(count))
    }
    let packed = try reader.readSizedBytes()
    try Inflate.checkLength(count, from: packed.count, at: start)
    return try ContiguousArray(count: count) { bytes throws(DecodeFault) in
      do throws(DecodeFault) {
        try inflate.decompress(packed, into: UnsafeMutableRawBufferPointer(bytes))
      } catch {
        throw .invalid(at: start, reason: "a damaged deflate stream")
      }
      return count
    }
  }

  /// Reads a section of exactly `count` bytes.
  static func read(
    _ reader: inout ByteReader, count: Int, inflate: inout Inflate
  ) throws(DecodeFault) -> ContiguousArray<UInt8> {
    let start = reader.offset
    let result = try read(&reader, limit: count, inflate: &inflate)
    guard result.count == count else {
      throw .invalid(at: start, reason: "a section of the wrong length")
    }
    return result
  }
}
