import AnnalsModel

/// How much of a set of intervals lies before a moment. Each interval weighs 1, evenly spread over
/// its length.
///
/// Between two moments lies the difference. A sum of `(x - low) / length` over the intervals that
/// contain `x` is `x · Σ 1/length - Σ low/length`, and both sums are differences of prefix sums.
/// These are kept in two doubles each: lengths go from a microsecond to half a million years.
struct CumulativeWeights: Sendable {
  /// The moments of what has no length, rising.
  private var instants: ContiguousArray<Int64> = []
  /// By low and by high end: the ends, rising, and the sums over those before each.
  private var lows = Side()
  private var highs = Side()
  private var origin: Int64 = 0

  private struct Side: Sendable {
    var moments: ContiguousArray<Int64> = []
    /// Of 1/length; one more than there are moments.
    var densities: ContiguousArray<TwoDoubles> = [.zero]
    /// Of low/length.
    var offsets: ContiguousArray<TwoDoubles> = [.zero]
  }

  /// The weights of intervals `low..<high`; those without length count at `low`. O(n log n).
  init(_ intervals: ContiguousArray<Range<Int64>>) {
    var long: ContiguousArray<Range<Int64>> = []
    for interval in intervals {
      if interval.isEmpty { instants.append(interval.lowerBound) } else { long.append(interval) }
    }
    instants.sort()
    long.sort { $0.lowerBound < $1.lowerBound }
    origin = long.first?.lowerBound ?? 0
    lows = CumulativeWeights.side(long, origin, \.lowerBound)
    long.sort { $0.upperBound < $1.upperBound }
    highs = CumulativeWeights.side(long, origin, \.upperBound)
  }

  private static func side(
    _ intervals: ContiguousArray<Range<Int64>>, _ origin: Int64, _ end: (Range<Int64>) -> Int64
  ) -> Side {
    var side = Side()
    var density = TwoDoubles.zero
    var offset = TwoDoubles.zero
    for interval in intervals {
      let low = TwoDoubles(interval.lowerBound)
      let length = TwoDoubles(interval.upperBound) - low
      side.moments.append(end(interval))
      density = density + TwoDoubles(1) / length
      offset = offset + (low - TwoDoubles(origin)) / length
      side.densities.append(density)
      side.offsets.append(offset)
    }
    return side
  }

  /// The weight of what lies in the range. O(log n).
  func weight(in range: Range<Int64>) -> Double {
    max(0, (before(range.upperBound) - before(range.lowerBound)).value)
  }

  /// The weight of what lies before the moment.
  private func before(_ moment: Int64) -> TwoDoubles {
    let begun = lows.moments.rank { $0 < moment }
    let over = highs.moments.rank { $0 <= moment }
    let whole = over + instants.rank { $0 < moment }
    guard begun > over else { return TwoDoubles(Int64(whole)) }
    let density = lows.densities[begun] - highs.densities[over]
    let offset = lows.offsets[begun] - highs.offsets[over]
    let part = (TwoDoubles(moment) - TwoDoubles(origin)) * density - offset
    return TwoDoubles(Int64(whole)) + part
  }
}

/// A number as the exact sum of two doubles: about 32 decimal digits.
struct TwoDoubles: Sendable {
  private var high: Double
  private var low: Double

  static var zero: TwoDoubles { TwoDoubles(high: 0, low: 0) }

  /// The number, exactly.
  init(_ number: Int64) {
    self = TwoDoubles.sum(Double(number >> 32) * 4_294_967_296, Double(number & 0xFFFF_FFFF))
  }

  private init(high: Double, low: Double) {
    self.high = high
    self.low = low
  }

  /// The nearest double.
  var value: Double { high + low }

  /// The exact sum of two doubles.
  private static func sum(_ a: Double, _ b: Double) -> TwoDoubles {
    let sum = a + b
    let part = sum - a
    return TwoDoubles(high: sum, low: (a - (sum - part)) + (b - part))
  }

  static func + (a: TwoDoubles, b: TwoDoubles) -> TwoDoubles {
    let highs = sum(a.high, b.high)
    let lows = sum(a.low, b.low)
    let first = sum(highs.high, highs.low + lows.high)
    return sum(first.high, first.low + lows.low)
  }

  static func - (a: TwoDoubles, b: TwoDoubles) -> TwoDoubles {
    a + TwoDoubles(high: -b.high, low: -b.low)
  }

  static func * (a: TwoDoubles, b: TwoDoubles) -> TwoDoubles {
    let product = a.high * b.high
    let error = (-product).addingProduct(a.high, b.high)
    return sum(product, error + (a.high * b.low + a.low * b.high))
  }

  static func / (a: TwoDoubles, b: TwoDoubles) -> TwoDoubles {
    var result = TwoDoubles.zero
    var rest = a
    for _ in 0..<3 {
      let quotient = TwoDoubles(high: rest.high / b.high, low: 0)
      result = result + quotient
      rest = rest - quotient * b
    }
    return result
  }
}
