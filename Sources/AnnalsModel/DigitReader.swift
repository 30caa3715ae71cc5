/// Reads the parts of a date from ASCII text.
struct DigitReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Whether the next character is this one, which is then read.
  mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
    position += 1
    return true
  }

  private mutating func digit() -> Int64? {
    guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
    position += 1
    return Int64(bytes[position - 1] - 0x30)
  }

  /// A number of so many digits; nil if there are fewer.
  mutating func number(digits: ClosedRange<Int>) -> Int64? {
    var value: Int64 = 0
    var count = 0
    while count < digits.upperBound, let next = digit() {
      value = value * 10 + next
      count += 1
    }
    return count < digits.lowerBound ? nil : value
  }

  /// The microseconds of the digits after a point, of which six count.
  mutating func fraction() -> Int64? {
    guard var value = digit() else { return nil }
    var count = 1
    while let next = digit() {
      if count < 6 {
        value = value * 10 + next
        count += 1
      }
    }
    for _ in count..<6 { value *= 10 }
    return value
  }

  /// A signed year of four to six digits, or one of four.
  mutating func year() -> Int64? {
    let isNegative = consume("-")
    let isSigned = isNegative || consume("+")
    guard let year = number(digits: isSigned ? 4...6 : 4...4) else { return nil }
    return isNegative ? -year : year
  }

  /// The offset from UTC in seconds: `Z` or `+02:00`. What people type may have a blank before it
  /// or no colon, which RFC 3339 does not have.
  mutating func offset() -> (seconds: Int64, isRFC3339: Bool)? {
    if consume("Z") || consume("z") { return (0, true) }
    let isTyped = consume(" ")
    let sign: Int64 = consume("-") ? -1 : 1
    guard sign < 0 || consume("+"), let hours = number(digits: 2...2) else { return nil }
    let hasColon = consume(":")
    guard let minutes = number(digits: 2...2), hours < 24, minutes < 60 else { return nil }
    return (sign * (hours * 3_600 + minutes * 60), hasColon && !isTyped)
  }
}
