/// An exact decimal number, without Foundation: what `Value.decimal` holds. Convert it with
/// `Decimal(_:)`.
///
/// A number of at most 38 significant digits, the last of which stands at 10^-128 or before, the
/// first at 10^164 or behind: what Foundation's `Decimal` holds. Each number has one form, so 12.5
/// and 12.50 are one value.
public struct RawDecimal: Hashable, Sendable {
  /// The digits as a whole number with the sign, of which ten is no factor; 0 for zero.
  package let significand: Int128
  /// Where the last digit stands: the number is `significand` · 10^`exponent`. 0 for zero.
  package let exponent: Int

  /// Zero.
  package static let zero = RawDecimal(canonical: 0, 0)

  /// The most significant digits.
  package static let mostDigits = 38
  /// The least exponent of a last digit.
  package static let leastExponent = -128
  /// The greatest exponent of a first digit.
  package static let greatestExponent = 164

  /// A number whose form is known to be the one it has.
  init(canonical significand: Int128, _ exponent: Int) {
    self.significand = significand
    self.exponent = exponent
  }

  /// `significand` · 10^`exponent`; nil if that has too many digits or is out of range.
  package init?(significand: Int128, exponent: Int) {
    guard significand != 0 else {
      self = .zero
      return
    }
    var digits = significand.magnitude
    var place = exponent
    while true {
      let (quotient, digit) = digits.quotientAndRemainder(dividingBy: 10)
      guard digit == 0 else { break }
      digits = quotient
      place += 1
    }
    guard digits < PowersOfTen.ofTen38, place >= RawDecimal.leastExponent else { return nil }
    self.init(canonical: significand < 0 ? -Int128(digits) : Int128(digits), place)
    guard firstExponent <= RawDecimal.greatestExponent else { return nil }
  }

  /// A whole number.
  package init(_ number: Int64) {
    self = RawDecimal(significand: Int128(number), exponent: 0) ?? .zero
  }

  /// Where the first digit stands; of zero, 0.
  package var firstExponent: Int { exponent + max(digitCount, 1) - 1 }

  /// How many significant digits there are; none of zero.
  package var digitCount: Int {
    var rest = significand.magnitude
    var count = 0
    // Most have few digits, for which 64 bits are enough.
    while rest > UInt128(UInt64.max) {
      rest /= 10_000_000_000
      count += 10
    }
    var low = UInt64(rest)
    while low > 0 {
      low /= 10
      count += 1
    }
    return count
  }

  /// The number as an integer; nil if it has a fraction or is out of range.
  package var whole: Int64? {
    guard exponent >= 0, exponent < 19 else { return nil }
    let (product, overflow) = significand.multipliedReportingOverflow(
      by: PowersOfTen.power(exponent))
    return overflow ? nil : Int64(exactly: product)
  }

  /// The nearest double.
  package var nearestDouble: Double { Double("\(significand)e\(exponent)") ?? 0 }

  /// Which numbers there are, for a message about one that there is not.
  package static var rangeText: String {
    "a decimal has at most 38 digits, the last at 10^-128 or before, the first at 10^164 or behind"
  }
}

extension RawDecimal: Comparable {
  /// Whether `a` is less than `b`.
  public static func < (a: RawDecimal, b: RawDecimal) -> Bool {
    if a.exponent == b.exponent { return a.significand < b.significand }
    let signs = (a.significand.signum(), b.significand.signum())
    if signs.0 != signs.1 { return signs.0 < signs.1 }
    let firsts = (a.firstExponent, b.firstExponent)
    if firsts.0 != firsts.1 { return (firsts.0 < firsts.1) == (signs.0 > 0) }
    // The first digits stand at the same place, so both have at most 38 digits from the last of
    // either on.
    let last = min(a.exponent, b.exponent)
    return a.significand * PowersOfTen.power(a.exponent - last)
      < b.significand * PowersOfTen.power(b.exponent - last)
  }
}

/// The powers of ten that fit 128 bits.
package enum PowersOfTen {
  private static let all: [Int128] = (0..<38).reduce(into: [1]) { list, _ in
    list.append(list[list.count - 1] * 10)
  }
  /// The least number of 39 digits.
  static let ofTen38 = UInt128(power(38))

  /// 10 to the power of 0 to 38.
  package static func power(_ exponent: Int) -> Int128 { all[exponent] }
}
