import AnnalsModel
import AnnalsTestSupport
import Testing

/// Decimals as text, as bytes and added up.
@Suite struct RawDecimalTests {
  private func decimal(_ text: String) throws -> RawDecimal { try #require(RawDecimal(text)) }

  private func bytes(_ number: RawDecimal) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    number.append(to: &bytes)
    return bytes
  }

  @Test(arguments: [
    ("12.50", "12.5"), ("-0.00", "0"), ("+7", "7"), ("1e3", "1000"), ("1.5E-3", "0.0015"),
    ("00012", "12"), ("1e164", "1" + String(repeating: "0", count: 164)),
    ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ("0.10000000000000000000000000000000000000000000000", "0.1"), ("0e99999999999999999999", "0"),
    ("-1e-128", "-0." + String(repeating: "0", count: 127) + "1"),
  ])
  func textIsReadExactly(text: String, shown: String) throws {
    #expect(try decimal(text).description == shown)
    #expect(try decimal(shown) == decimal(text))
  }

  @Test(arguments: [
    "", "-", ".5", "5.", "1e", "1e+", "0x1", "1 ", "nan", "inf", "1,5", "1e165", "1e-129",
    "123456789012345678901234567890123456789", "1e99999999999999999999", "1_000", "١",
  ])
  func otherTextIsRefused(text: String) { #expect(RawDecimal(text) == nil) }

  @Test(
    arguments: [
      ("12.5", [0x81, 0x81, 0x0D, 0x33]), ("100", [0x81, 0x82, 0x02]), ("0", [0x80]),
      ("0.05", [0x81, 0x80, 0x06]), ("-12.5", [0x7E, 0x7E, 0xF2, 0xCC, 0xFF]),
    ] as [(String, [UInt8])])
  func theBytesAreThoseOfTheFormat(text: String, expected: [UInt8]) throws {
    #expect(try Array(bytes(decimal(text))) == expected)
  }

  /// No other bytes are those of a number: without a pair, with one that is none, beginning or
  /// ending with 00, beyond the range, cut, or longer.
  @Test(
    arguments: [
      [], [0x81], [0x81, 0x81], [0x80, 0x80], [0x81, 0x81, 0x00], [0x81, 0x81, 101],
      [0x81, 0x81, 0x01, 0x02], [0x81, 0x81, 0x02, 0x01], [0x82, 0x81, 0x02], [0x7E, 0x7E, 0xF2],
      [0x7E, 0x7E, 0xFF], [0x81, 0xFF, 0x02], [0x81, 0x01, 0x02], [0x81, 212, 2],
      [0x81, 211, 51], [0x81] + Array(repeating: 0x81, count: 25),
      [0x81, 0x81] + Array(repeating: 12, count: 20),
    ] as [[UInt8]])
  func otherBytesAreRefused(bytes: [UInt8]) {
    #expect(bytes.withUnsafeBytes { RawDecimal(bytes: $0) } == nil)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func theOrderOfBytesIsThatOfNumbers(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let numbers = (0..<400).compactMap { _ in
      RawDecimal(
        significand: Int128(Int64(bitPattern: random.next()) >> random.below(64)),
        exponent: random.below(12) - 6)
    }
    for a in numbers {
      let ends = bytes(a)
      #expect(ends.withUnsafeBytes { RawDecimal(bytes: $0) } == a)
      let b = numbers[random.below(numbers.count)]
      #expect((a < b) == bytes(a).lexicographicallyPrecedes(bytes(b)), "\(a) \(b), seed \(seed)")
      let (x, y) = (a.nearestDouble, b.nearestDouble)
      #expect((a < b) == (x < y) || x == y, "\(a) \(b)")
    }
  }

  @Test func sumsAreExact() throws {
    func sum(_ texts: [String]) throws -> DecimalSum {
      var sum = DecimalSum()
      for text in texts { sum.add(try decimal(text)) }
      return sum
    }
    #expect(try sum(["0.1", "0.2"]).total?.description == "0.3")
    #expect(try sum(Array(repeating: "0.1", count: 1_000)).total == decimal("100"))
    #expect(try sum(["1e164", "1e-128"]).total == nil)
    #expect(try sum(["1e164", "1e-128", "-1e164"]).total == decimal("1e-128"))
    #expect(try sum(["-5e100", "3", "5e100", "-4"]).total == decimal("-1"))
    let most = String(repeating: "9", count: 38)
    #expect(try sum([most, "1"]).total == decimal("1e38"))
    #expect(try sum([most, "2"]).total == nil)
    #expect(try sum([]).total == .zero)
    #expect(try sum(["1", "1"]).divided(by: 2) == decimal("1"))
    #expect(
      try sum(["1", "1", "0"]).divided(by: 3)?.description
        == "0." + String(repeating: "6", count: 37) + "7")
    #expect(try sum(["1e-128", "2e-128"]).divided(by: 2) == decimal("2e-128"))
    #expect(try sum(["-12.5", "-12"]).divided(by: 2) == decimal("-12.25"))
  }

  @Test func doublesAreNotRounded() throws {
    #expect(RawDecimal(exactly: 12.5)?.description == "12.5")
    #expect(RawDecimal(exactly: 0.1) == nil)
    let near = try #require(RawDecimal.notGreater(than: 0.1))
    #expect(near.number.description == "0.10000000000000000555111512312578270211" && !near.isEqual)
    #expect(
      RawDecimal.notGreater(than: -0.1)?.number.description
        == "-0.10000000000000000555111512312578270212")
    #expect(RawDecimal.notGreater(than: 1e300) == nil && RawDecimal.notGreater(than: -1e300) == nil)
    #expect(RawDecimal.notGreater(than: .leastNonzeroMagnitude)?.number == .zero)
    #expect(try RawDecimal.notGreater(than: -.leastNonzeroMagnitude)?.number == decimal("-1e-128"))
    #expect(try decimal("0.1").exactDouble == nil && decimal("-2.5").exactDouble == -2.5)
    #expect(try decimal("9223372036854775807").whole == .max && decimal("1e19").whole == nil)
    #expect(try decimal("1.5").whole == nil && decimal("-1e2").whole == -100)
  }
}
