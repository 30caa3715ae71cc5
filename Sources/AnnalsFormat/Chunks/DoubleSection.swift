/// Doubles, as they are or by the place of their bytes: the high bytes of similar numbers deflate
/// well and the low ones not at all, so each place is a section of its own.
enum DoubleSection {
  private static let whole: UInt8 = 0
  private static let places: UInt8 = 1

  static func append(
    _ words: ContiguousArray<UInt64>, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate
  ) {
    var asTheyAre: ContiguousArray<UInt8> = [whole]
    var raw: ContiguousArray<UInt8> = []
    raw.reserveCapacity(words.count * 8)
    for word in words { raw.append(fixed: word) }
    ChunkSection.append(raw, to: &asTheyAre, deflate: &deflate)
    var byPlace: ContiguousArray<UInt8> = [places]
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      let plane = ContiguousArray(words.map { UInt8(truncatingIfNeeded: $0 >> shift) })
      ChunkSection.append(plane, to: &byPlace, deflate: &deflate)
    }
    output.append(contentsOf: byPlace.count < asTheyAre.count ? byPlace : asTheyAre)
  }

  static func read(
    _ reader: inout ByteReader, count: Int, inflate: inout Inflate
  ) throws(DecodeFault) -> ContiguousArray<UInt64> {
    var result = ContiguousArray<UInt64>(repeating: 0, count: count)
    if try reader.readFlags(known: 1) == whole {
      let bytes = try ChunkSection.read(&reader, count: 8 * count, inflate: &inflate)
      bytes.withUnsafeBytes { bytes in
        for index in 0..<count {
          let word = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
          result[index] = UInt64(littleEndian: word)
        }
      }
      return result
    }
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      let plane = try ChunkSection.read(&reader, count: count, inflate: &inflate)
      plane.withUnsafeBufferPointer { plane in
        result.withUnsafeMutableBufferPointer { result in
          // As long as each other, which the section has made sure of: several at a time.
          for index in 0..<min(count, plane.count) {
            result[index] |= UInt64(plane[index]) << shift
          }
        }
      }
    }
    return result
  }
}
