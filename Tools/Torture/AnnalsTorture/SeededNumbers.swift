import AnnalsStorage

/// Random numbers determined by a seed and a name, so that workloads are the same in each run.
package struct SeededNumbers: RandomNumberGenerator, Sendable {
  private var numbers: SplitMix64

  /// The numbers of a seed.
  package init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  /// The numbers of a seed and a name.
  package init(seed: UInt64, _ name: String) {
    self.init(
      seed: name.utf8.reduce(seed ^ 0xcbf2_9ce4_8422_2325) {
        ($0 ^ UInt64($1)) &* 0x100_0000_01b3
      })
  }

  /// The next number.
  package mutating func next() -> UInt64 { numbers.next() }

  /// A text of random letters, which hardly compresses.
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

  /// Random bytes.
  mutating func bytes(_ length: Int) -> [UInt8] {
    (0..<length).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
