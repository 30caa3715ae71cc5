/// A set of the 256 rows of a block, as bits.
struct RowBits {
  private(set) var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// None.
  init() {}

  /// Those of a group's rows that a block has.
  init(_ group: ContiguousArray<UInt64>, leaf: Int) {
    let first = leaf * Leaf.bitWords
    words = (group[first], group[first + 1], group[first + 2], group[first + 3])
  }

  var isEmpty: Bool { words.0 | words.1 | words.2 | words.3 == 0 }

  mutating func insert(_ slot: Int) { set(slot >> 6, self[slot >> 6] | 1 << UInt64(slot & 63)) }

  mutating func formUnion(_ other: RowBits) {
    words.0 |= other.words.0
    words.1 |= other.words.1
    words.2 |= other.words.2
    words.3 |= other.words.3
  }

  func subtracting(_ other: RowBits) -> RowBits {
    var result = self
    result.words.0 &= ~other.words.0
    result.words.1 &= ~other.words.1
    result.words.2 &= ~other.words.2
    result.words.3 &= ~other.words.3
    return result
  }

  /// 64 of them.
  subscript(word: Int) -> UInt64 {
    switch word {
    case 0: words.0
    case 1: words.1
    case 2: words.2
    default: words.3
    }
  }

  mutating func set(_ word: Int, _ bits: UInt64) {
    switch word {
    case 0: words.0 = bits
    case 1: words.1 = bits
    case 2: words.2 = bits
    default: words.3 = bits
    }
  }

  /// Calls `body` with each, rising, as long as it returns true; whether it always did.
  @inline(__always)
  func forEach(_ body: (Int) -> Bool) -> Bool {
    for word in 0..<Leaf.bitWords {
      var bits = self[word]
      while bits != 0 {
        if !body(word << 6 + bits.trailingZeroBitCount) { return false }
        bits &= bits - 1
      }
    }
    return true
  }
}
