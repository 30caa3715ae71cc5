import AnnalsModel
import AnnalsTestSupport
import Testing

/// Sums of decimals are those of school addition, digit by digit.
@Suite struct DecimalSumTests {
  private static let places = 120

  /// The sum by digits from 10^-60 on, each with the sign of its number; nil if they are over 38.
  private func sum(_ numbers: [(significand: Int128, exponent: Int)]) -> RawDecimal? {
    var digits = [Int](repeating: 0, count: Self.places)
    for (significand, exponent) in numbers {
      var rest = significand
      var place = exponent + 60
      while rest != 0 {
        digits[place] += Int(rest % 10)
        rest /= 10
        place += 1
      }
    }
    func carry() {
      for place in 0..<Self.places - 1 {
        let carried = Int((Double(digits[place]) / 10).rounded(.down))
        digits[place] -= carried * 10
        digits[place + 1] += carried
      }
    }
    carry()
    let isNegative = (digits.last ?? 0) < 0
    if isNegative {
      for place in digits.indices { digits[place] = -digits[place] }
      carry()
    }
    guard let first = digits.lastIndex(where: { $0 != 0 }),
      let last = digits.firstIndex(where: { $0 != 0 })
    else { return .zero }
    guard first - last < 38 else { return nil }
    let number = digits[last...first].reversed().reduce(Int128(0)) { $0 * 10 + Int128($1) }
    return RawDecimal(significand: isNegative ? -number : number, exponent: last - 60)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>) func areExact(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var lengths: Set<Int> = []
    for round in 0..<1_200 {
      // So far apart that the whole sum has 33 to 41 digits.
      let spread = 25 + round % 9
      var numbers: [(significand: Int128, exponent: Int)] = []
      for _ in 0...random.below(4) {
        let digits = Int128(random.below(20_000_000) - 10_000_000)
        numbers.append((digits, random.below(2) == 0 ? -20 : spread - 20))
      }
      if random.below(8) == 0 { numbers.append((1, 20 + random.below(20))) }
      if random.below(8) == 0, let last = numbers.last {
        numbers.append((-last.significand, last.exponent))
      }
      var found = DecimalSum()
      for (significand, exponent) in numbers {
        found.add(try #require(RawDecimal(significand: significand, exponent: exponent)))
      }
      let wanted = sum(numbers)
      #expect(found.total == wanted, "seed \(seed), round \(round): \(numbers)")
      lengths.insert(wanted?.digitCount ?? 0)
    }
    #expect(lengths.isSuperset(of: [0, 36, 37, 38]), "\(lengths)")
  }
}
