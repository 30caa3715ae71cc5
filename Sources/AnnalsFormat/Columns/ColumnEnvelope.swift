/// A run of bytes that is stored as it is or as a deflate stream, whichever is worth it: first a
/// number whose lowest bit says which and whose others are the length of the bytes themselves,
/// then, if deflated, the length of the stream, then the bytes or the stream.
///
/// FORMAT.md, "Columns".
package enum ColumnEnvelope {
  /// Shorter runs are not worth trying.
  private static let shortest = 32

  /// Appends the run.
  package static func append(
    _ bytes: UnsafeRawBufferPointer, to output: inout ContiguousArray<UInt8>,
    with deflate: inout Deflate
  ) {
    let guess = bytes.count < shortest ? .nothing : Compressibility.guess(bytes)
    if guess != .nothing {
      var stream: ContiguousArray<UInt8> = []
      let findsRepeats = guess == .repeats
      if deflate.compressIfWorthwhile(bytes, into: &stream, findsRepeats: findsRepeats) {
        output.append(varInt: UInt64(bytes.count) << 1 | 1)
        stream.withUnsafeBytes { output.append(sized: $0) }
        return
      }
    }
    output.append(varInt: UInt64(bytes.count) << 1)
    output.append(contentsOf: bytes)
  }
}

/// Reads column envelopes, one after the other, keeping its working memory.
package struct ColumnReader: ~Copyable {
  private var inflate: Inflate?
  private var buffer = Scratch<UInt8>()
  /// How many more bytes the columns of this payload may inflate to.
  private var allowance = FormatLimits.maximumDecodedLength

  package init() {}

  /// Forgets how much the columns before inflated to: a new payload begins.
  package mutating func start() { allowance = FormatLimits.maximumDecodedLength }

  /// Reads one column's bytes, inflated where they were deflated; valid until the next call.
  package mutating func read(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> UnsafeRawBufferPointer {
    let start = reader.offset
    let head = try reader.readVarInt()
    guard head >> 1 <= UInt64(allowance) else {
      throw .tooLarge(at: start, limit: UInt64(FormatLimits.maximumDecodedLength))
    }
    let length = Int(head >> 1)
    guard head & 1 == 1 else { return try reader.readBytes(length) }
    let stream = try reader.readSizedBytes()
    try Inflate.checkLength(length, from: stream.count, at: start)
    allowance -= length
    if inflate == nil { inflate = Inflate() }
    let output = UnsafeMutableRawBufferPointer(buffer.take(length))
    try inflate?.decompress(stream, into: output)
    return UnsafeRawBufferPointer(output)
  }
}
