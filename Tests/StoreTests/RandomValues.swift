import AnnalsModel
import AnnalsTestSupport

/// Values worth trying: edges, look-alikes, and now and then one over 4 KiB.
struct RandomValues {
  var random: SeededRandom

  /// A value of the type.
  mutating func value(of type: AttributeType) -> Value {
    switch type {
    case .bool: return .bool(random.chance(50))
    case .int16: return .int(integer(Int64(Int16.min), Int64(Int16.max)))
    case .int32: return .int(integer(Int64(Int32.min), Int64(Int32.max)))
    case .int64: return .int(integer(.min, .max))
    case .double: return .double(double())
    case .string: return .string(text())
    case .date: return .date(Timestamp(microseconds: integer(-1 << 60, 1 << 60)))
    case .uuid: return .uuid(RawUUID(high: random.next(), low: random.next()))
    case .url: return .url("https://example.org/" + text())
    case .data: return .data(bytes())
    case .json: return .json("[\"" + plain(length()) + "\"]")
    case .decimal: return .decimal(decimal())
    case .day:
      return .day(CalendarDay(nearestTo: integer(.min, .max) / 1_000_000_000))
    case .any:
      let kinds = AttributeType.allCases.filter { $0 != .any }
      return value(of: kinds[random.number(0...kinds.count - 1)])
    }
  }

  /// A value out of a few, so that keys meet.
  mutating func key(of type: AttributeType) -> Value {
    let number = random.number(0...40)
    switch type {
    case .uuid: return .uuid(RawUUID(high: 7, low: UInt64(number)))
    case .int64: return .int(Int64(number))
    case .any:
      if number < 10 { return .decimal(RawDecimal("\(number).5") ?? .zero) }
      return number < 20 ? .int(Int64(number)) : .string("\(number - 20)")
    default: return .string(number == 0 ? "é" : number == 1 ? "e\u{301}" : "key \(number)")
    }
  }

  private mutating func integer(_ lowest: Int64, _ highest: Int64) -> Int64 {
    switch random.number(0...5) {
    case 0: lowest
    case 1: highest
    case 2: Int64.random(in: lowest...highest, using: &random)
    default: Int64(random.number(-3...3))
    }
  }

  private mutating func double() -> Double {
    switch random.number(0...5) {
    case 0: -0.0
    case 1: 0
    case 2: .greatestFiniteMagnitude
    case 3: .leastNonzeroMagnitude
    default: Double(random.number(-1_000...1_000)) / 8
    }
  }

  private mutating func decimal() -> RawDecimal {
    let digits = Int128(integer(.min, .max)) * (random.chance(20) ? Int128(Int64.max) : 1)
    let exponents = [0, -2, -2, 3, -128, 126]
    return RawDecimal(significand: digits, exponent: exponents[random.number(0...5)]) ?? .zero
  }

  private mutating func length() -> Int {
    switch random.number(0...59) {
    case 0: 4_096
    case 1: random.number(4_097...20_000)
    case 2: random.number(1_000...4_000)
    default: random.number(0...12)
    }
  }

  private mutating func text() -> String {
    switch random.number(0...9) {
    case 0: ""
    case 1: "é"
    case 2: "e\u{301}"
    case 3: "日本 \u{1F600}"
    default: plain(length())
    }
  }

  private mutating func plain(_ length: Int) -> String {
    let seed = random.number(0...25)
    return String(
      decoding: (0..<length).map { UInt8(97 + ($0 &* 7 &+ seed) % 26) }, as: UTF8.self)
  }

  private mutating func bytes() -> [UInt8] {
    (0..<length()).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}
