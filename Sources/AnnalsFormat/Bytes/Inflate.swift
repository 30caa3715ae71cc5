import AnnalsModel
import CZlib

/// A decompressor of raw deflate streams (RFC 1951) with a known result length.
///
/// Holds zlib's working memory (about 40 KB), so one serves a whole block.
package struct Inflate: ~Copyable {
  private let stream: UnsafeMutablePointer<z_stream>

  package init() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// The most bytes that one byte of a deflate stream can decompress to.
  package static let maximumRatio = 1032

  /// Throws unless a stream of `count` bytes can decompress to `length` bytes. Call it before
  /// memory is taken for the result.
  package static func checkLength(_ length: Int, from count: Int, at: Int) throws(DecodeFault) {
    guard length <= FormatLimits.maximumDecodedLength else {
      throw .tooLarge(at: at, limit: UInt64(FormatLimits.maximumDecodedLength))
    }
    guard length / maximumRatio <= count else {
      throw .invalid(at: at, reason: "more than a deflate stream of this length can hold")
    }
  }

  /// Decompresses `bytes` into exactly all of `output`; throws if the stream is damaged, or if it
  /// or its result has another length.
  package mutating func decompress(
    _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(DecodeFault) {
    inflateReset(stream)
    let input = bytes.bindMemory(to: UInt8.self)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = uInt(input.count)
    stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
    stream.pointee.avail_out = uInt(output.count)
    let status = inflate(stream, Z_FINISH)
    guard status == Z_STREAM_END, stream.pointee.avail_in == 0, stream.pointee.avail_out == 0 else {
      throw .invalid(
        at: bytes.count - Int(stream.pointee.avail_in), reason: "a damaged deflate stream")
    }
  }

  /// Decompresses `bytes` to `length` bytes, which are at most `limit`.
  package static func decompress(
    _ bytes: UnsafeRawBufferPointer, length: Int,
    limit: Int = FormatLimits.maximumDecodedLength
  ) throws(DecodeFault) -> ContiguousArray<UInt8> {
    guard length <= limit else { throw .tooLarge(at: 0, limit: UInt64(limit)) }
    try checkLength(length, from: bytes.count, at: 0)
    var inflate = Inflate()
    return try ContiguousArray(count: length) { output throws(DecodeFault) in
      try inflate.decompress(bytes, into: UnsafeMutableRawBufferPointer(output))
      return length
    }
  }
}
