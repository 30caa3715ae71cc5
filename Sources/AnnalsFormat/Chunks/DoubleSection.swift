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
    let raw = bytes(of: words)
    // Numbers that come again; what is frequent in them, the places show better.
    if raw.withUnsafeBytes({ ChunkSection.promise(of: $0) }) == .repeats {
      ChunkSection.append(raw, to: &asTheyAre, deflate: &deflate)
    } else {
      raw.withUnsafeBytes { ChunkSection.appendRaw($0, to: &asTheyAre) }
    }
    var byPlace: ContiguousArray<UInt8> = [places]
    for place in (0..<8).reversed() {
      ChunkSection.append(plane(place, of: raw), to: &byPlace, deflate: &deflate)
    }
    output.append(contentsOf: byPlace.count < asTheyAre.count ? byPlace : asTheyAre)
  }

  /// The bytes of the numbers, the least significant of each first.
  private static func bytes(of words: ContiguousArray<UInt64>) -> ContiguousArray<UInt8> {
    ContiguousArray(unsafeUninitializedCapacity: words.count * 8) { room, count in
      let room = UnsafeMutableRawBufferPointer(room)
      for index in words.indices {
        room.storeBytes(of: words[index].littleEndian, toByteOffset: 8 * index, as: UInt64.self)
      }
      count = words.count * 8
    }
  }

  /// The bytes of one place, 0 for the least significant, of the bytes of all numbers.
  private static func plane(
    _ place: Int, of raw: ContiguousArray<UInt8>
  ) -> ContiguousArray<UInt8> {
    ContiguousArray(unsafeUninitializedCapacity: raw.count / 8) { room, count in
      raw.withUnsafeBufferPointer { raw in
        for index in room.indices { room[index] = raw[8 * index + place] }
      }
      count = room.count
    }
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
    var planes: ContiguousArray<UInt8> = []
    planes.reserveCapacity(8 * count)
    for _ in 0..<8 {
      planes.append(contentsOf: try ChunkSection.read(&reader, count: count, inflate: &inflate))
    }
    planes.withUnsafeBytes { planes in
      result.withUnsafeMutableBufferPointer { join(planes, into: $0) }
    }
    return result
  }

  /// Puts together numbers of which `planes` has all most significant bytes, then all bytes of the
  /// next place, and so on.
  private static func join(
    _ planes: UnsafeRawBufferPointer, into result: UnsafeMutableBufferPointer<UInt64>
  ) {
    let count = result.count
    var index = 0
    while index + 8 <= count {
      // Eight bytes of each of eight places are a square that is turned over its diagonal.
      func row(_ place: Int) -> UInt64 {
        let offset = place * count + index
        return UInt64(littleEndian: planes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      var (a, b, c, d) = (row(7), row(6), row(5), row(4))
      var (e, f, g, h) = (row(3), row(2), row(1), row(0))
      exchange(&a, &b, 8, 0x00FF_00FF_00FF_00FF)
      exchange(&c, &d, 8, 0x00FF_00FF_00FF_00FF)
      exchange(&e, &f, 8, 0x00FF_00FF_00FF_00FF)
      exchange(&g, &h, 8, 0x00FF_00FF_00FF_00FF)
      exchange(&a, &c, 16, 0x0000_FFFF_0000_FFFF)
      exchange(&b, &d, 16, 0x0000_FFFF_0000_FFFF)
      exchange(&e, &g, 16, 0x0000_FFFF_0000_FFFF)
      exchange(&f, &h, 16, 0x0000_FFFF_0000_FFFF)
      exchange(&a, &e, 32, 0x0000_0000_FFFF_FFFF)
      exchange(&b, &f, 32, 0x0000_0000_FFFF_FFFF)
      exchange(&c, &g, 32, 0x0000_0000_FFFF_FFFF)
      exchange(&d, &h, 32, 0x0000_0000_FFFF_FFFF)
      result[index] = a
      result[index + 1] = b
      result[index + 2] = c
      result[index + 3] = d
      result[index + 4] = e
      result[index + 5] = f
      result[index + 6] = g
      result[index + 7] = h
      index += 8
    }
    while index < count {
      var word: UInt64 = 0
      for place in 0..<8 { word = word << 8 | UInt64(planes[place * count + index]) }
      result[index] = word
      index += 1
    }
  }

  /// Exchanges the high part of each pair of fields in one word with the low part in the other.
  @inline(__always)
  private static func exchange(
    _ low: inout UInt64, _ high: inout UInt64, _ shift: UInt64, _ mask: UInt64
  ) {
    let difference = (low >> shift ^ high) & mask
    high ^= difference
    low ^= difference << shift
  }
}
