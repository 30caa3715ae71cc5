import AnnalsStorage

/// Random numbers that are the same for the same seed, everywhere.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var numbers: SplitMix64

  /// The numbers that follow from the seed.
  package init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  /// The next number.
  package mutating func next() -> UInt64 { numbers.next() }

  /// A number from 0 to `limit` - 1.
  package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// The next number modulo `limit`.
  package mutating func draw(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// Whether something happens that does so `percent` times in a hundred.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A whole number of the range.
  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
}
