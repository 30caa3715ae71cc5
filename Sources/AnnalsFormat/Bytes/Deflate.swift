import CZlib

/// A compressor: one raw deflate stream (RFC 1951, no zlib or gzip wrapper) for each run of bytes.
///
/// Holds zlib's working memory (about 270 KB) and memory for a result, so one serves a whole block
/// or checkpoint.
package struct Deflate: ~Copyable {
  private let stream: UnsafeMutablePointer<z_stream>
  private let level: Int32
  private var buffer = Scratch<UInt8>()

  /// A compressor of this level: 1 is what the format's writers use.
  package init(level: Int32 = 1) {
    self.level = level
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = deflateInit2_(
      stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Appends the compressed form of `bytes` if it is at most `limit` bytes long; otherwise appends
  /// nothing and returns false. Without `findsRepeats` only uses the frequencies of bytes: three
  /// times as fast for data without repeats.
  package mutating func compress(
    _ bytes: UnsafeRawBufferPointer, into output: inout ContiguousArray<UInt8>, limit: Int,
    findsRepeats: Bool = true
  ) -> Bool {
    guard limit > 0, !bytes.isEmpty, bytes.count <= FormatLimits.maximumDecodedLength else {
      return false
    }
    deflateReset(stream)
    let input = bytes.bindMemory(to: UInt8.self)
    let room = buffer.reserve(limit)
    // Allowed between streams: nothing is pending that the change could flush.
    deflateParams(stream, level, findsRepeats ? Z_DEFAULT_STRATEGY : Z_HUFFMAN_ONLY)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = uInt(input.count)
    stream.pointee.next_out = room.baseAddress
    stream.pointee.avail_out = uInt(limit)
    guard deflate(stream, Z_FINISH) == Z_STREAM_END else { return false }
    let count = limit - Int(stream.pointee.avail_out)
    output.append(contentsOf: UnsafeRawBufferPointer(room).prefix(count))
    return true
  }

  /// Appends the compressed form if it saves at least a tenth, which makes inflating worth it;
  /// otherwise appends nothing and returns false.
  package mutating func compressIfWorthwhile(
    _ bytes: UnsafeRawBufferPointer, into output: inout ContiguousArray<UInt8>,
    findsRepeats: Bool = true
  ) -> Bool {
    let limit = bytes.count - (bytes.count + 9) / 10
    return compress(bytes, into: &output, limit: limit, findsRepeats: findsRepeats)
  }
}
