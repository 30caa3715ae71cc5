/// Numbers of equal width, one after the other, the first in the lowest bits of the first byte.
enum BitPacking {
  /// How many bytes `count` numbers of `width` bits take.
  static func byteCount(_ count: Int, width: Int) -> Int {
    // `count` is bounded by the limits of a frame, so this does not overflow.
    (count * width + 7) / 8
  }

  /// How many bits the number takes.
  static func width(of value: UInt64) -> Int { 64 - value.leadingZeroBitCount }

  /// Appends `value - base` of each value, in `width` bits.
  static func pack(
    _ values: UnsafeBufferPointer<Int64>, base: Int64, width: Int,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    guard width > 0 else { return }
    let end = bytes.count + byteCount(values.count, width: width)
    bytes.reserveCapacity(end + 8)
    var pending: UInt64 = 0
    var filled = 0
    for value in values {
      let bits = UInt64(bitPattern: value &- base)
      pending |= bits << UInt64(filled)
      filled += width
      if filled >= 64 {
        bytes.append(fixed: pending)
        filled -= 64
        // The bits that did not fit; a shift by the whole width gives none.
        pending = bits >> UInt64(width - filled)
      }
    }
    if filled > 0 { bytes.append(fixed: pending) }
    if bytes.count > end { bytes.removeSubrange(end...) }
  }

  /// Reads as many numbers of `width` bits as `output` has room for, adding `base` to each.
  /// `packed` has exactly the bytes that they take.
  static func unpack(
    _ packed: UnsafeRawBufferPointer, base: Int64, width: Int,
    into output: UnsafeMutableBufferPointer<Int64>
  ) {
    guard width > 0 else {
      output.update(repeating: base)
      return
    }
    let mask: UInt64 = width == 64 ? .max : 1 << UInt64(width) - 1
    let quick = quickCount(output.count, width: width, in: packed.count)
    unpackQuickly(packed, base: base, width: width, mask: mask, count: quick, into: output)
    var bit = quick * width
    for index in quick..<output.count {
      let bits = gather(packed, from: bit >> 3, shift: UInt64(bit & 7))
      output[index] = base &+ Int64(bitPattern: bits & mask)
      bit += width
    }
  }

  /// How many numbers, from the first on, lie each within eight bytes that are all there.
  private static func quickCount(_ count: Int, width: Int, in length: Int) -> Int {
    // With seven bits before it, a number of 57 bits fills eight bytes.
    guard width <= 57, length >= 8 else { return 0 }
    return min(count, ((length - 7) * 8 - 1) / width + 1)
  }

  /// Reads the numbers that `quickCount` says.
  private static func unpackQuickly(
    _ packed: UnsafeRawBufferPointer, base: Int64, width: Int, mask: UInt64, count: Int,
    into output: UnsafeMutableBufferPointer<Int64>
  ) {
    guard count > 0, let source = packed.baseAddress, let target = output.baseAddress else {
      return
    }
    var bit: UInt64 = 0
    let step = UInt64(width)
    for index in 0..<count {
      let byte = Int(truncatingIfNeeded: bit &>> 3)
      let bits = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: byte, as: UInt64.self))
      target[index] = base &+ Int64(bitPattern: bits &>> (bit & 7) & mask)
      bit &+= step
    }
  }

  /// The up to nine bytes from `byte` on, those that are there, shifted.
  private static func gather(
    _ packed: UnsafeRawBufferPointer, from byte: Int, shift: UInt64
  ) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<min(9, packed.count - byte) {
      let value = UInt64(packed[byte + index])
      result |= index == 0 ? value >> shift : value << (UInt64(index) * 8 - shift)
    }
    return result
  }
}
