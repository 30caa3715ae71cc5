/// Random numbers that follow from a seed (SplitMix64), for workloads that are the same in each
/// run.
package struct SeededNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers that follow from the seed.
  package init(seed: UInt64) { state = seed }

  /// The numbers that follow from the seed and a name.
  package init(seed: UInt64, _ name: String) {
    state = name.utf8.reduce(seed ^ 0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Text of so many random letters, which compress to little less than themselves.
  mutating func text(_ length: Int) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length)
    while bytes.count < length {
      var word = next()
      for _ in 0..<min(10, length - bytes.count) {
        bytes.append(48 + UInt8(word % 64))
        word /= 64
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// So many random bytes.
  mutating func bytes(_ length: Int) -> [UInt8] {
    (0..<length).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
