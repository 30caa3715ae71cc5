// A number list is a run of 64-bit numbers whose count is known, each in as few bits as the
// widest needs, either as they are or as differences:
//
//   byte     bits 0 to 6: width in bits, 0 to 64; bit 7: differences
//   zigzag   base: what is added to each packed number
//   zigzag   the first number, if differences
//   section  the packed numbers (without the first, if differences), if the width is not 0:
//            number i in bits i x width and up, least significant bit first; the rest zero
//
// All sums are modulo 2^64. An empty list takes no bytes. FORMAT.md, "Chunks".

/// Writes and reads lists of numbers within chunks.
enum NumberList {
  private static let differencesFlag: UInt8 = 0x80

  /// Appends a list.
  static func append(
    _ numbers: ContiguousArray<UInt64>, to output: inout ContiguousArray<UInt8>,
    deflate: inout Deflate
  ) {
    guard let first = numbers.first else { return }
    let plain = Range(of: numbers, isDifferences: false)
    let differences = Range(of: numbers, isDifferences: true)
    let isDifferences = differences.width < plain.width
    let range = isDifferences ? differences : plain
    let rows = isDifferences ? numbers.count - 1 : numbers.count
    let rawLength = (rows * range.width + 7) / 8

    func appendHeader(width: Int) {
      output.append(UInt8(width) | (isDifferences ? differencesFlag : 0))
      output.append(zigzag: range.base)
      if isDifferences { output.append(zigzag: Int64(bitPattern: first)) }
    }

    // Whole bytes deflate better than bits that cross them.
    let aligned = (range.width + 7) & ~7
    if rawLength >= 32 {
      let bytes = pack(numbers, range, width: aligned, isDifferences: isDifferences)
      var deflated: ContiguousArray<UInt8> = []
      let isSmaller = bytes.withUnsafeBytes {
        ChunkSection.isPromising($0, deflate: &deflate)
          && deflate.compress($0, into: &deflated, limit: rawLength - (rawLength + 9) / 10)
      }
      if isSmaller {
        appendHeader(width: aligned)
        output.append(varInt: UInt64(bytes.count) << 1 | 1)
        deflated.withUnsafeBytes { output.append(sized: $0) }
        return
      }
    }
    appendHeader(width: range.width)
    guard range.width > 0 else { return }
    output.append(varInt: UInt64(rawLength) << 1)
    output.append(
      contentsOf: pack(numbers, range, width: range.width, isDifferences: isDifferences))
  }

  /// Reads a list of `count` numbers.
  static func read(
    _ reader: inout ByteReader, count: Int, inflate: inout Inflate
  ) throws(DecodeFault) -> ContiguousArray<UInt64> {
    guard count > 0 else { return [] }
    let form = try reader.readUInt8()
    let width = Int(form & 0x7F)
    guard width <= 64 else { throw reader.invalid("a number of more than 64 bits") }
    let base = UInt64(bitPattern: try reader.readZigzag())
    let isDifferences = form & differencesFlag != 0
    let first = isDifferences ? UInt64(bitPattern: try reader.readZigzag()) : 0
    let packedCount = isDifferences ? count - 1 : count
    let length = (packedCount * width + 7) / 8
    let bytes =
      width == 0 ? [] : try ChunkSection.read(&reader, count: length, inflate: &inflate)
    guard hasZeroPadding(bytes, bits: packedCount * width) else {
      throw reader.invalid("bits behind the last number")
    }
    var result = unpack(bytes, count: packedCount, width: width, base: base)
    if isDifferences {
      var sum = first
      for index in result.indices {
        let difference = result[index]
        result[index] = sum
        sum &+= difference
      }
      result.append(sum)
    }
    return result
  }

  /// The least number and the bits that hold the distance to the greatest.
  private struct Range {
    var base: Int64
    var width: Int

    init(of numbers: ContiguousArray<UInt64>, isDifferences: Bool) {
      var low = Int64.max
      var high = Int64.min
      if isDifferences {
        for index in 1..<max(1, numbers.count) {
          let difference = Int64(bitPattern: numbers[index] &- numbers[index - 1])
          low = min(low, difference)
          high = max(high, difference)
        }
      } else {
        for number in numbers {
          low = min(low, Int64(bitPattern: number))
          high = max(high, Int64(bitPattern: number))
        }
      }
      guard low <= high else {
        // A single number has no difference; it is written as it is.
        base = 0
        width = 65
        return
      }
      base = low
      width = 64 - (UInt64(bitPattern: high) &- UInt64(bitPattern: low)).leadingZeroBitCount
    }
  }

  private static func pack(
    _ numbers: ContiguousArray<UInt64>, _ range: Range, width: Int, isDifferences: Bool
  ) -> ContiguousArray<UInt8> {
    let base = UInt64(bitPattern: range.base)
    let start = isDifferences ? 1 : 0
    var bytes: ContiguousArray<UInt8> = []
    bytes.reserveCapacity(((numbers.count - start) * width + 7) / 8 + 8)
    var pending: UInt64 = 0
    var pendingBits = 0
    for index in start..<numbers.count {
      let previous = isDifferences ? numbers[index - 1] : 0
      let value = numbers[index] &- previous &- base
      pending |= value << UInt64(pendingBits)
      if pendingBits + width < 64 {
        pendingBits += width
      } else {
        bytes.append(fixed: pending)
        pendingBits += width - 64
        // What did not fit; nothing, if the value ended with the word.
        pending = pendingBits == 0 ? 0 : value >> UInt64(width - pendingBits)
      }
    }
    for shift in stride(from: 0, to: pendingBits, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(shift)))
    }
    return bytes
  }

  private static func unpack(
    _ bytes: ContiguousArray<UInt8>, count: Int, width: Int, base: UInt64
  ) -> ContiguousArray<UInt64> {
    guard width > 0, count > 0 else { return ContiguousArray(repeating: base, count: count) }
    let mask = UInt64.max >> UInt64(64 - width)
    return bytes.withUnsafeBytes { bytes in
      ContiguousArray<UInt64>(unsafeUninitializedCapacity: count) { numbers, filled in
        for index in 0..<count {
          let bit = index * width
          let byte = bit >> 3
          let shift = UInt64(bit & 7)
          var value = word(bytes, at: byte) >> shift
          if width + Int(shift) > 64 { value |= UInt64(bytes[byte + 8]) << (64 - shift) }
          numbers[index] = value & mask &+ base
        }
        filled = count
      }
    }
  }

  /// Eight bytes from an offset on, zeros behind the end.
  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    if bytes.count - offset >= 8 {
      return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var value: UInt64 = 0
    for index in offset..<bytes.count {
      value |= UInt64(bytes[index]) << UInt64(8 * (index - offset))
    }
    return value
  }

  private static func hasZeroPadding(_ bytes: ContiguousArray<UInt8>, bits: Int) -> Bool {
    guard let last = bytes.last, bits & 7 != 0 else { return true }
    return last >> UInt8(bits & 7) == 0
  }
}
