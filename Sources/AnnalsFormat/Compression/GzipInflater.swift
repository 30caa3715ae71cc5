import CZlib

/// Unpacks a gzip stream that arrives in pieces, of one member or several.
///
/// Memory does not grow with the stream. Used by one thread at a time.
package final class GzipInflater {
  /// What a step of unpacking did.
  package struct Step: Hashable, Sendable {
    /// How many bytes of input were taken.
    package var consumed: Int
    /// How many bytes of output were written.
    package var produced: Int
    /// Whether the input, up to what was taken, is whole members.
    package var isComplete: Bool
  }

  /// Why a stream cannot be unpacked.
  package enum Fault: Error, Hashable, Sendable {
    /// The bytes are not what gzip wrote, or their checksum is wrong.
    case damaged
    case outOfMemory
  }

  private let stream: UnsafeMutablePointer<z_stream>
  private var isComplete = true

  /// An inflater at the beginning of a stream.
  package init() throws(Fault) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 bits of window, 16 for the gzip wrapper alone.
    let status = inflateInit2_(stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw .outOfMemory }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Unpacks from `input` into `output`, which is not empty, until one of them is used up or a
  /// member ends. With no input it hands out what is left of what it took before.
  package func step(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> Step {
    if isComplete {
      if input.isEmpty { return Step(consumed: 0, produced: 0, isComplete: true) }
      guard inflateReset(stream) == Z_OK else { throw .damaged }
      isComplete = false
    }
    let inputCount = min(input.count, 1 << 30)
    let outputCount = min(output.count, 1 << 30)
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(inputCount)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(outputCount)
    let status = inflate(stream, Z_NO_FLUSH)
    switch status {
    case Z_STREAM_END: isComplete = true
    case Z_OK, Z_BUF_ERROR: break
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw .damaged
    }
    return Step(
      consumed: inputCount - Int(stream.pointee.avail_in),
      produced: outputCount - Int(stream.pointee.avail_out), isComplete: isComplete)
  }
}
