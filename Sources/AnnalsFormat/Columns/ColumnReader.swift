/// Decodes column envelopes one after the other and keeps its working memory.
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
    let header = try SectionHeader(&reader, limit: allowance)
    let length = header.length
    guard header.compression == .deflate else { return try reader.readBytes(length) }
    let stream = try reader.readSizedBytes()
    try Inflate.checkLength(length, from: stream.count, at: start)
    allowance -= length
    if inflate == nil { inflate = Inflate() }
    let output = UnsafeMutableRawBufferPointer(buffer.reserve(length))
    try inflate?.decompress(stream, into: output)
    return UnsafeRawBufferPointer(output)
  }
}
