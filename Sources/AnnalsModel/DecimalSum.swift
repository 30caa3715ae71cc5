/// The exact sum of decimals, however many and however far apart their digits stand.
package struct DecimalSum: Sendable {
  /// The sum is `near` · 10^`exponent`, and what did not fit beside it in `limbs`.
  private var near: Int128 = 0
  private var exponent = 0
  /// Nine digits each, the first of them from 10^-135 on; empty until they are needed.
  private var limbs: [Int64] = []
  /// How often something was added to the limbs since they were put in order.
  private var additions = 0

  /// The sum of nothing.
  package init() {}

  private static let base: Int64 = 1_000_000_000
  private static let digitsOfLimb = 9
  private static let leastExponent = -135
  private static let limbCount = 40

  /// Adds a number.
  package mutating func add(_ number: RawDecimal) {
    if number.significand == 0 || addNear(number) { return }
    spill()
    (near, exponent) = (number.significand, number.exponent)
  }

  /// Adds the number if the sum then still fits 128 bits.
  private mutating func addNear(_ number: RawDecimal) -> Bool {
    if near == 0 { exponent = number.exponent }
    var (sum, other) = (near, number.significand)
    let shift = number.exponent - exponent
    guard shift.magnitude <= 38 else { return false }
    let power = PowersOfTen.power(Int(shift.magnitude))
    let (shifted, overflow) = (shift < 0 ? sum : other).multipliedReportingOverflow(by: power)
    if shift < 0 { sum = shifted } else { other = shifted }
    let (total, overflowOfSum) = sum.addingReportingOverflow(other)
    guard !overflow, !overflowOfSum else { return false }
    near = total
    exponent = min(exponent, number.exponent)
    return true
  }

  /// Moves what is near to the limbs.
  private mutating func spill() {
    if limbs.isEmpty { limbs = Array(repeating: 0, count: DecimalSum.limbCount) }
    if additions == 1 << 30 { carry() }
    additions += 1
    let place = exponent - DecimalSum.leastExponent
    var index = place / DecimalSum.digitsOfLimb
    let power = Int64(PowersOfTen.power(place % DecimalSum.digitsOfLimb))
    var rest = near
    while rest != 0 {
      let (quotient, part) = rest.quotientAndRemainder(dividingBy: Int128(DecimalSum.base))
      let (high, low) = (Int64(part) * power).quotientAndRemainder(dividingBy: DecimalSum.base)
      limbs[index] += low
      limbs[index + 1] += high
      rest = quotient
      index += 1
    }
    near = 0
  }

  /// Makes all limbs but the last ones of 0 to 999,999,999.
  private mutating func carry() {
    additions = 0
    var carried: Int64 = 0
    for index in limbs.indices.dropLast() {
      let (quotient, rest) = (limbs[index] + carried).dividedRoundingDown(by: DecimalSum.base)
      limbs[index] = rest
      carried = quotient
    }
    limbs[limbs.count - 1] += carried
  }

  /// The digits of the sum, the first one not 0, and where the last one stands.
  private var digits: (isNegative: Bool, digits: [UInt8], exponent: Int) {
    guard !limbs.isEmpty else {
      return (near < 0, near == 0 ? [] : DecimalDigits.digits(of: near.magnitude), exponent)
    }
    var all = self
    all.spill()
    all.carry()
    let isNegative = all.limbs[all.limbs.count - 1] < 0
    if isNegative {
      for index in all.limbs.indices { all.limbs[index].negate() }
      all.carry()
    }
    let digits = DecimalDigits.digits(of: all.limbs.map { UInt64($0.magnitude) })
    return (isNegative, digits, DecimalSum.leastExponent)
  }

  /// The sum; nil if it has more digits than a decimal, or is out of range.
  package var total: RawDecimal? {
    if limbs.isEmpty { return RawDecimal(significand: near, exponent: exponent) }
    let (isNegative, digits, exponent) = digits
    let used = digits.prefix(digits.count - digits.reversed().prefix { $0 == 0 }.count)
    guard used.count <= RawDecimal.mostDigits else { return nil }
    let significand = used.reduce(Int128(0)) { $0 * 10 + Int128($1) }
    return RawDecimal(
      significand: isNegative ? -significand : significand,
      exponent: exponent + digits.count - used.count)
  }

  /// The sum divided by a positive count: exact if 38 digits are enough, else the nearest number of
  /// 38 digits, of two equally near ones the one whose last digit is even. Nil out of range.
  package func divided(by count: Int) -> RawDecimal? {
    let (isNegative, digits, exponent) = digits
    let divisor = UInt64(count)
    var remainder: UInt64 = 0
    var (index, place) = (0, exponent + digits.count)
    func next(_ remainder: inout UInt64) -> UInt64 {
      let digit = index < digits.count ? digits[index] : 0
      index += 1
      let (high, low) = remainder.multipliedFullWidth(by: 10)
      let (sum, overflow) = low.addingReportingOverflow(UInt64(digit))
      let result = divisor.dividingFullWidth((high + (overflow ? 1 : 0), sum))
      remainder = result.remainder
      return result.quotient
    }
    var quotient: Int128 = 0
    while quotient < PowersOfTen.power(RawDecimal.mostDigits - 1), place > RawDecimal.leastExponent,
      index < digits.count || remainder != 0
    {
      quotient = quotient * 10 + Int128(next(&remainder))
      place -= 1
    }
    let half = next(&remainder)
    let isBeyond = remainder != 0 || digits.dropFirst(index).contains { $0 != 0 }
    if half > 5 || half == 5 && (isBeyond || quotient & 1 == 1) { quotient += 1 }
    return RawDecimal(significand: isNegative ? -quotient : quotient, exponent: place)
  }
}

/// Decimal digits of numbers of any length.
enum DecimalDigits {
  /// The digits, the first of them not 0; none of 0.
  static func digits(of number: UInt128) -> [UInt8] {
    number == 0 ? [] : String(number).utf8.map { $0 - 0x30 }
  }

  /// The digits of limbs of nine digits each, the lowest first.
  static func digits(of limbs: [UInt64]) -> [UInt8] {
    var result: [UInt8] = []
    for limb in limbs {
      var rest = limb
      for _ in 0..<9 {
        result.append(UInt8(rest % 10))
        rest /= 10
      }
      // The last limb may have more.
      while rest > 0 {
        result.append(UInt8(rest % 10))
        rest /= 10
      }
    }
    while result.last == 0 { result.removeLast() }
    return result.reversed()
  }

  /// All digits of a finite double, without its sign, and where the last one stands.
  static func digits(of number: Double) -> (digits: [UInt8], exponent: Int) {
    guard number != 0 else { return ([], 0) }
    // The number is a whole number times a power of two, which is a power of five and of ten.
    let place = number.isNormal ? Int(number.exponent) - 52 : -1_074
    let bits = number.significandBitPattern | (number.isNormal ? 1 << 52 : 0)
    var limbs: [UInt64] = [bits % 1_000_000_000, bits / 1_000_000_000]
    var left = Int(place.magnitude)
    while left > 0 {
      let count = min(left, place < 0 ? 12 : 29)
      var factor: UInt64 = 1
      for _ in 0..<count { factor *= place < 0 ? 5 : 2 }
      multiply(&limbs, by: factor)
      left -= count
    }
    return (digits(of: limbs), min(place, 0))
  }

  private static func multiply(_ limbs: inout [UInt64], by factor: UInt64) {
    var carried: UInt64 = 0
    for index in limbs.indices {
      let product = limbs[index] * factor + carried
      limbs[index] = product % 1_000_000_000
      carried = product / 1_000_000_000
    }
    if carried > 0 { limbs.append(carried) }
  }
}

extension RawDecimal {
  /// The greatest decimal that is not greater than a finite double, and whether it is equal to it.
  /// Nil if the double is less than all decimals, or greater than the greatest by more than a
  /// digit.
  package static func notGreater(
    than double: Double
  ) -> (number: RawDecimal, isEqual: Bool)? {
    let (digits, exponent) = DecimalDigits.digits(of: double)
    let places = exponent + digits.count - RawDecimal.leastExponent
    let kept = max(0, min(RawDecimal.mostDigits, places, digits.count))
    var significand = digits.prefix(kept).reduce(Int128(0)) { $0 * 10 + Int128($1) }
    let isEqual = digits.dropFirst(kept).allSatisfy { $0 == 0 }
    let last = kept == 0 ? RawDecimal.leastExponent : exponent + digits.count - kept
    if double < 0 { significand = isEqual ? -significand : -significand - 1 }
    return RawDecimal(significand: significand, exponent: last).map { ($0, isEqual) }
  }

  /// The decimal that is equal to a double; nil if there is none.
  package init?(exactly double: Double) {
    guard double.isFinite, let (number, isEqual) = RawDecimal.notGreater(than: double), isEqual
    else { return nil }
    self = number
  }

  /// The double that is equal to the number; nil if there is none.
  package var exactDouble: Double? {
    let nearest = nearestDouble
    return RawDecimal(exactly: nearest) == self ? nearest : nil
  }
}
