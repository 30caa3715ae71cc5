import AnnalsFormat
import AnnalsModel

// The key of a box index is a Morton code, also called Z-order: the bits of the words of its
// columns taken in turn, most significant first, so that objects near each other in all columns
// mostly have keys near each other. All that share the first bits of their keys are in one *cell*:
// a box again, with a range for each column.

/// Encodes two to eight words as Morton codes.
struct MortonCoder: Sendable {
  /// How many words there are.
  let count: Int
  /// For each byte its bits from the highest on, each `count` places from the one before.
  private let spread: ContiguousArray<UInt64>

  private init(count: Int) {
    self.count = count
    spread = ContiguousArray(
      (0..<256).map { byte in
        (0..<8).reduce(0) { word, bit in
          byte & 128 >> bit == 0 ? word : word | 1 << UInt64(63 - bit * count)
        }
      })
  }

  private static let all = (0...8).map(MortonCoder.init)

  /// The coder of so many words, at most eight.
  static func of(_ count: Int) -> MortonCoder { all[count] }

  /// How many bytes a code has.
  var length: Int { 8 * count }

  /// Appends the code of the first `count` words.
  @inline(__always)
  func append(_ words: SIMD8<UInt64>, to bytes: inout ContiguousArray<UInt8>) {
    var shift: UInt64 = 56
    for _ in 0..<8 {
      // The same byte of each word makes `count` bytes of the code.
      var bits: UInt64 = 0
      for index in 0..<count {
        bits |= spread[Int(truncatingIfNeeded: words[index] >> shift & 255)] >> UInt64(index)
      }
      for index in 0..<UInt64(count) {
        bytes.append(UInt8(truncatingIfNeeded: bits >> (56 - 8 * index)))
      }
      shift &-= 8
    }
  }
}

extension ValueCell {
  /// The eight bytes of a number or date in its element; nil for other values.
  @inline(__always)
  var orderedBits: UInt64? {
    switch tag {
    case .int, .date, .day: bits ^ 1 << 63
    case .double: bits >> 63 == 1 ? ~bits : bits ^ 1 << 63
    default: nil
    }
  }
}
