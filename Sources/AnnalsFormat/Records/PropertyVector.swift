import AnnalsModel

/// A set of properties as a bit vector: a count of bytes, and the bytes, bit `(number - 1) % 8` of
/// byte `(number - 1) / 8` set for each property; the last byte is not zero.
enum PropertyVector {
  /// The greatest count of bytes.
  static let maximumLength = (Int(FormatLimits.maximumPropertyNumber) + 7) / 8

  /// Appends the set of these properties, which rise.
  static func encode(
    _ properties: some BidirectionalCollection<PropertyNumber>,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    let last = Int(properties.last ?? 0)
    precondition(last <= FormatLimits.maximumPropertyNumber, "a property number beyond the limit")
    bytes.append(count: (last + 7) / 8)
    let start = bytes.count
    bytes.append(zerosUpTo: start + (last + 7) / 8)
    for property in properties {
      let bit = Int(property) - 1
      bytes[start + bit / 8] |= 1 << UInt8(bit % 8)
    }
  }

  /// Reads the bytes of a set.
  static func read(_ reader: inout ByteReader) throws(DecodeFault) -> UnsafeRawBufferPointer {
    let vector = try reader.readBytes(try reader.readCount(limit: maximumLength))
    if let last = vector.last, last == 0 { throw reader.invalid("an overlong bit vector") }
    // Its last bit would be of a number that no property has.
    guard vector.count < maximumLength || vector[maximumLength - 1] < 0x80 else {
      throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumPropertyNumber))
    }
    return vector
  }

  /// Reads a set of at most `limit` properties, rising.
  static func decode(
    _ reader: inout ByteReader, limit: Int
  ) throws(DecodeFault) -> ContiguousArray<PropertyNumber> {
    let start = reader.offset
    let vector = try read(&reader)
    var result: ContiguousArray<PropertyNumber> = []
    for (index, byte) in vector.enumerated() {
      var bits = byte
      while bits != 0 {
        guard result.count < limit else { throw .tooLarge(at: start, limit: UInt64(limit)) }
        result.append(PropertyNumber(index * 8 + bits.trailingZeroBitCount + 1))
        bits &= bits &- 1
      }
    }
    return result
  }
}
