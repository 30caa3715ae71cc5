import AnnalsModel

/// Encodes and decodes the sections of blocks, chunks and large values: runs of bytes, raw or
/// deflated, whichever is worth it (`SectionHeader`).
package enum ChunkSection {
  /// Below this, deflating saves nothing that matters.
  package static let worthDeflating = 48

  /// Appends a section that holds `bytes`; fewer than `shortest` are not worth deflating.
  package static func append(
    _ bytes: UnsafeRawBufferPointer, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate, shortest: Int = worthDeflating
  ) {
    let guess = promise(of: bytes, shortest: shortest)
    if guess != .nothing {
      var packed: ContiguousArray<UInt8> = []
      let findsRepeats = guess == .repeats
      if deflate.compressIfWorthwhile(bytes, into: &packed, findsRepeats: findsRepeats) {
        SectionHeader(length: bytes.count, compression: .deflate).append(to: &output)
        packed.withUnsafeBytes { output.append(sized: $0) }
        return
      }
    }
    appendRaw(bytes, to: &output)
  }

  /// Appends a section that holds `bytes` as they are.
  static func appendRaw(
    _ bytes: UnsafeRawBufferPointer, to output: inout ContiguousArray<UInt8>
  ) {
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

  /// What deflating the bytes would gain by, judged by a sample: random bytes (UUIDs, mantissas)
  /// cost the compressor the most and give nothing.
  static func promise(
    of bytes: UnsafeRawBufferPointer, shortest: Int = worthDeflating
  ) -> Compressibility {
    bytes.count < shortest ? .nothing : Compressibility.guess(bytes)
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
