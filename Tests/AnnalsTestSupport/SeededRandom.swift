/// Random numbers that are the same for the same seed, everywhere (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers that follow from the seed.
  package init(seed: UInt64) { state = seed }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 to `limit` - 1.
  package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// Whether something happens that does so `percent` times in a hundred.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A whole number of the range.
  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
}
