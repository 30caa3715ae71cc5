import Foundation

/// SplitMix64, with the distributions of the workload.
struct Random {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 to `bound`, exclusive.
  mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(bound)) >> 32)
  }

  /// A number from 0 to 1, exclusive.
  mutating func unit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  /// A number of the normal distribution.
  mutating func normal() -> Double {
    let radius = unit() + 1e-18
    let angle = unit()
    return (-2 * log(radius)).squareRoot() * cos(6.283185307179586 * angle)
  }
}
