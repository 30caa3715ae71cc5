// Decimals as text.

extension RawDecimal: LosslessStringConvertible {
  /// Reads `-12.50` or `1.25e1`; nil for any other text, and for numbers that no decimal is. O(n).
  ///
  ///     decimal = ["-" | "+"] digits ["." digits] [("e" | "E") ["-" | "+"] digits]
  public init?(_ text: String) {
    var text = text
    guard let number = text.withUTF8({ RawDecimal(text: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = number
  }

  /// As the other form, for the bytes of a text.
  package init?(text bytes: UnsafeRawBufferPointer) {
    var reader = DecimalReader(bytes: bytes)
    guard let number = reader.number() else { return nil }
    self = number
  }

  /// The shortest text without an exponent: `12.5`, `-0.001`, `1000`.
  public var description: String {
    let digits = String(significand.magnitude)
    let sign = significand < 0 ? "-" : ""
    if exponent >= 0 { return sign + digits + String(repeating: "0", count: exponent) }
    let point = digits.utf8.count + exponent
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    let index = digits.index(digits.startIndex, offsetBy: point)
    return sign + digits[..<index] + "." + digits[index...]
  }
}

/// Reads a decimal from ASCII text.
private struct DecimalReader {
  let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var significand: Int128 = 0
  /// Zeros read since the last other digit.
  private var zeros = 0
  /// How many digits stand behind the point.
  private var behindPoint = 0
  private var isTooLong = false

  init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func number() -> RawDecimal? {
    let isNegative = consume("-")
    if !isNegative { _ = consume("+") }
    guard digits(countingPlaces: false) else { return nil }
    if consume(".") { guard digits(countingPlaces: true) else { return nil } }
    var exponent = 0
    if consume("e") || consume("E") {
      guard let read = self.exponent() else { return nil }
      exponent = read
    }
    guard position == bytes.count, !isTooLong else { return nil }
    // Zeros at the end count as places alone.
    return RawDecimal(
      significand: isNegative ? -significand : significand,
      exponent: exponent + zeros - behindPoint)
  }

  private mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
    position += 1
    return true
  }

  /// Reads digits; false if there is none.
  private mutating func digits(countingPlaces: Bool) -> Bool {
    let start = position
    while position < bytes.count, bytes[position] &- 0x30 < 10 {
      let digit = Int128(bytes[position] - 0x30)
      position += 1
      if countingPlaces { behindPoint += 1 }
      if digit == 0 {
        zeros += significand == 0 ? 0 : 1
        continue
      }
      append(digit)
    }
    return position > start
  }

  /// Appends a digit behind the zeros before it.
  private mutating func append(_ digit: Int128) {
    guard zeros < RawDecimal.mostDigits, !isTooLong else {
      isTooLong = true
      return
    }
    let (shifted, overflow) = significand.multipliedReportingOverflow(
      by: PowersOfTen.power(zeros + 1))
    guard !overflow, shifted < PowersOfTen.power(RawDecimal.mostDigits) else {
      isTooLong = true
      return
    }
    significand = shifted + digit
    zeros = 0
  }

  /// The digits behind the mark; far beyond all exponents where there are too many.
  private mutating func exponent() -> Int? {
    let isNegative = consume("-")
    if !isNegative { _ = consume("+") }
    let start = position
    var value = 0
    while position < bytes.count, bytes[position] &- 0x30 < 10 {
      if value < 1 << 40 { value = value * 10 + Int(bytes[position] - 0x30) }
      position += 1
    }
    return position > start ? (isNegative ? -value : value) : nil
  }
}
