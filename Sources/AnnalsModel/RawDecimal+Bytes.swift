// Decimals as bytes whose order is that of the numbers, as files and columns hold them. FORMAT.md,
// "Decimals".
//
//   zero       128
//   positive   129, a byte of the magnitude, and for each pair of digits a byte
//   negative   the bytes of the positive number, all bits inverted, then 255
//
// The number is 0.ppp… · 100^m, its first pair p not 00: the byte of the magnitude is m + 128, that
// of a pair its number plus 1. The last pair is not 00. So no byte is 0.

extension RawDecimal {
  /// The most bytes that a number takes.
  package static let mostBytes = 23

  private static let zeroByte: UInt8 = 128
  private static let positive: UInt8 = 129
  private static let end: UInt8 = 255

  /// Appends the bytes.
  package func append(to bytes: inout ContiguousArray<UInt8>) {
    guard significand != 0 else { return bytes.append(RawDecimal.zeroByte) }
    let count = digitCount
    // Where the point stands if all digits are behind it; pairs begin at even places.
    let places = exponent + count
    let (magnitude, odd) = places.dividedUp(by: 2)
    // Digits before the first pair begins, and behind the last one ends.
    let behind = (count + odd) & 1
    let mask: UInt8 = significand < 0 ? 0xFF : 0
    bytes.append(RawDecimal.positive ^ mask)
    bytes.append(UInt8(truncatingIfNeeded: magnitude + 128) ^ mask)
    let start = bytes.count
    var rest = significand.magnitude
    if behind == 1 {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      bytes.append((UInt8(digit) * 10 + 1) ^ mask)
      rest = quotient
    }
    while rest > UInt128(UInt64.max) {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      bytes.append((UInt8(pair) + 1) ^ mask)
      rest = quotient
    }
    var low = UInt64(rest)
    while low > 0 {
      bytes.append((UInt8(low % 100) + 1) ^ mask)
      low /= 100
    }
    bytes[start...].reverse()
    if mask != 0 { bytes.append(RawDecimal.end) }
  }

  /// The number of these bytes; nil if no number has them.
  package init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 2 else {
      guard bytes.count == 1, bytes[0] == RawDecimal.zeroByte else { return nil }
      self = .zero
      return
    }
    guard bytes.count <= RawDecimal.mostBytes else { return nil }
    let isNegative = bytes[0] == ~RawDecimal.positive
    guard isNegative || bytes[0] == RawDecimal.positive else { return nil }
    if isNegative { guard bytes[bytes.count - 1] == RawDecimal.end else { return nil } }
    let mask: UInt8 = isNegative ? 0xFF : 0
    let last = bytes.count - (isNegative ? 2 : 1)
    guard last >= 2 else { return nil }
    var digits: UInt128 = 0
    for index in 2...last {
      let pair = (bytes[index] ^ mask) &- 1
      guard pair < 100, pair > 0 || index > 2 && index < last else { return nil }
      // Of the last pair a 0 is no digit, so that 38 digits never overflow.
      let isCut = index == last && pair % 10 == 0
      let (shifted, overflow) = digits.multipliedReportingOverflow(by: isCut ? 10 : 100)
      guard !overflow else { return nil }
      digits = shifted + UInt128(isCut ? pair / 10 : pair)
      guard digits < PowersOfTen.ofTen38 else { return nil }
    }
    let magnitude = Int(bytes[1] ^ mask) - 128
    let isCut = ((bytes[last] ^ mask) &- 1) % 10 == 0
    let exponent = 2 * (magnitude - (last - 1)) + (isCut ? 1 : 0)
    guard
      let number = RawDecimal(
        significand: isNegative ? -Int128(digits) : Int128(digits), exponent: exponent)
    else { return nil }
    self = number
  }

  /// The number of bytes that are valid, as all in memory are.
  @usableFromInline
  package init(validBytes bytes: UnsafeRawBufferPointer) {
    self = RawDecimal(bytes: bytes) ?? .zero
  }
}

extension Int {
  /// The quotient, rounded up, and what is missing from it.
  fileprivate func dividedUp(by divisor: Int) -> (quotient: Int, missing: Int) {
    let (quotient, remainder) = Int64(self + divisor - 1).dividedRoundingDown(by: Int64(divisor))
    return (Int(quotient), divisor - 1 - Int(remainder))
  }
}
