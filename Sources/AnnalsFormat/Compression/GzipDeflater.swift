import CZlib

/// Packs bytes that arrive in pieces into one gzip member.
///
/// Memory does not grow with the stream. Used by one thread at a time.
package final class GzipDeflater {
  private let stream: UnsafeMutablePointer<z_stream>

  /// A deflater at the beginning of a stream, of zlib's usual level.
  package init() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 bits of window, 16 for the gzip wrapper.
    let status = deflateInit2_(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib has no memory")
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Appends what is known of the packed form of `input` to `output`.
  package func append(_ input: UnsafeRawBufferPointer, to output: inout ContiguousArray<UInt8>) {
    pack(input, Z_NO_FLUSH, &output)
  }

  /// Appends the rest of the packed form; nothing more can be packed.
  package func appendEnd(to output: inout ContiguousArray<UInt8>) {
    pack(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, &output)
  }

  private func pack(
    _ input: UnsafeRawBufferPointer, _ flush: Int32, _ output: inout ContiguousArray<UInt8>
  ) {
    precondition(input.count <= 1 << 30, "more than zlib takes at once")
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = uInt(input.count)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 14) { room in
      repeat {
        stream.pointee.next_out = room.baseAddress
        stream.pointee.avail_out = uInt(room.count)
        deflate(stream, flush)
        output.append(contentsOf: room.prefix(room.count - Int(stream.pointee.avail_out)))
      } while stream.pointee.avail_out == 0
    }
  }
}
