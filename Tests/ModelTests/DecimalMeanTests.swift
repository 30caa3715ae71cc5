import AnnalsModel
import AnnalsTestSupport
import Testing

/// Means of decimals are those of school division, rounded half to even at the 38th digit.
@Suite struct DecimalMeanTests {
  /// The digits of a mean, and where the last one stands; at most 38.
  private func mean(_ sum: Int, _ count: Int) -> RawDecimal? {
    var digits = String(sum.magnitude / count.magnitude).utf8.map { Int($0) - 0x30 }
    var rest = sum.magnitude % count.magnitude
    var exponent = 0
    while rest > 0, exponent > -60 {
      let (quotient, remainder) = (rest * 10).quotientAndRemainder(dividingBy: count.magnitude)
      digits.append(Int(quotient))
      rest = remainder
      exponent -= 1
    }
    digits = Array(digits.drop { $0 == 0 })
    var isUp = false
    if digits.count > 38 {
      let cut = digits[38...]
      let half = cut.first ?? 0
      let isBeyond = rest > 0 || cut.dropFirst().contains { $0 > 0 }
      isUp = half > 5 || half == 5 && (isBeyond || digits[37] % 2 == 1)
      exponent += digits.count - 38
      digits = Array(digits.prefix(38))
    }
    let number = digits.reduce(Int128(0)) { $0 * 10 + Int128($1) } + (isUp ? 1 : 0)
    return RawDecimal(significand: sum < 0 ? -number : number, exponent: exponent)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>) func areTheNearest(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<400 {
      let count = 1 + random.below(40)
      var sum = DecimalSum()
      var whole = 0
      for _ in 0..<count {
        let number = random.below(2_000) - 1_000
        whole += number
        sum.add(RawDecimal(Int64(number)))
      }
      #expect(sum.divided(by: count) == mean(whole, count), "seed \(seed): \(whole) / \(count)")
    }
    // Powers of two end behind the last digit that is kept: exactly half, and more than half.
    for power in 1...60 {
      let count = 1 << power
      for number in [1, 3, 5, 7, 1_000_001, -1, -9] {
        var sum = DecimalSum()
        sum.add(RawDecimal(Int64(number)))
        #expect(sum.divided(by: count) == mean(number, count), "\(number) / \(count)")
      }
    }
  }
}
