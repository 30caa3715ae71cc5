/// The header of a section, a run of bytes that may be compressed: a number whose two lowest bits
/// say how it is stored, and whose other bits are the uncompressed length.
///
/// FORMAT.md, "Sections".
struct SectionHeader {
  /// The uncompressed length.
  var length: Int
  var compression: Compression

  /// How a section is stored: the numbers 2 and 3 are reserved for later versions.
  enum Compression: UInt64 {
    /// The bytes follow as they are.
    case none = 0
    /// The length of a raw deflate stream follows, and the stream.
    case deflate = 1
  }

  init(length: Int, compression: Compression) {
    self.length = length
    self.compression = compression
  }

  func append(to output: inout ContiguousArray<UInt8>) {
    output.append(varInt: UInt64(length) << 2 | compression.rawValue)
  }

  /// Reads the header of a section of at most `limit` bytes.
  init(_ reader: inout ByteReader, limit: Int) throws(DecodeFault) {
    let start = reader.offset
    let head = try reader.readVarInt()
    guard let compression = Compression(rawValue: head & 3) else {
      throw .newer(at: start, reason: "a compression")
    }
    guard head >> 2 <= UInt64(limit) else { throw .tooLarge(at: start, limit: UInt64(limit)) }
    self.compression = compression
    length = Int(head >> 2)
  }
}
