/// A box: a range of words for each column. Decides which Morton codes are in it, and how runs of
/// codes relate to it, without decoding: the bits of each column are compared in place.
struct MortonBox: Sendable {
  /// How a run of codes, or a cell, relates to the box.
  enum Relation {
    /// No code is in the box.
    case outside
    /// Every code is in the box.
    case inside
    /// Some may be.
    case across
  }

  /// How many columns there are, and words of a code.
  let count: Int
  /// For each column and each word of a code: which bits are the column's, and what they are at
  /// the lower and at the upper end.
  private let limits: ContiguousArray<Limit>

  private struct Limit {
    var mask: UInt64
    var low: UInt64
    var high: UInt64
  }

  init(_ sides: [ClosedRange<UInt64>]) {
    count = sides.count
    let coder = MortonCoder.of(sides.count)
    func code(_ column: Int, _ word: UInt64) -> [UInt64] {
      var words = SIMD8<UInt64>()
      words[column] = word
      var bytes: ContiguousArray<UInt8> = []
      coder.append(words, to: &bytes)
      return bytes.withUnsafeBytes { bytes in
        (0..<sides.count).map { MortonBox.word($0, of: bytes) }
      }
    }
    limits = ContiguousArray(
      sides.enumerated().flatMap { column, side in
        zip(code(column, .max), zip(code(column, side.lowerBound), code(column, side.upperBound)))
          .map { Limit(mask: $0, low: $1.0, high: $1.1) }
      })
  }

  /// How many bytes a code has.
  var codeLength: Int { 8 * count }

  @inline(__always)
  private static func word(_ index: Int, of code: UnsafeRawBufferPointer) -> UInt64 {
    code.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self).bigEndian
  }

  /// Whether a code, of the right length, is in the box.
  @inline(__always)
  func contains(_ code: UnsafeRawBufferPointer) -> Bool {
    limits.withUnsafeBufferPointer { limits in
      for column in 0..<count {
        // Whether the words so far are within the ends, not at them.
        var isAbove = false
        var isBelow = false
        for index in 0..<count {
          let limit = limits[column * count + index]
          let bits = MortonBox.word(index, of: code) & limit.mask
          if !isAbove {
            if bits < limit.low { return false }
            isAbove = bits > limit.low
          }
          if !isBelow {
            if bits > limit.high { return false }
            isBelow = bits < limit.high
          }
          if isAbove && isBelow { break }
        }
      }
      return true
    }
  }

  /// How the codes from the first to the last lie to the box.
  ///
  /// Says `across` also of some runs that are outside: where telling would take long.
  func relation(
    from first: UnsafeRawBufferPointer, to last: UnsafeRawBufferPointer
  ) -> Relation {
    var shared = 0
    for index in 0..<count {
      let difference = MortonBox.word(index, of: first) ^ MortonBox.word(index, of: last)
      shared += difference.leadingZeroBitCount
      if difference != 0 { break }
    }
    let cell = relation(ofCell: first, bits: shared)
    guard cell == .across, shared < 64 * count else { return cell }
    // The run is the end of one half of the cell and the beginning of the other.
    return reaches(first, beyond: shared, up: true) || reaches(last, beyond: shared, up: false)
      ? .across : .outside
  }

  /// How many bits more than all codes share are looked at.
  private static let depth = 24

  /// Whether there may be a code in the box from this one to an end of its cell: the last that
  /// shares one bit more than these, or the first.
  private func reaches(
    _ code: UnsafeRawBufferPointer, beyond shared: Int, up: Bool
  ) -> Bool {
    for bits in shared + 1...min(shared + MortonBox.depth, 64 * count) {
      if relation(ofCell: code, bits: bits) == .outside { return false }
      guard bits < 64 * count else { return true }
      // The half beside the one of the code, if it is on the way.
      let isSet = MortonBox.word(bits >> 6, of: code) & 1 << (63 - UInt64(bits & 63)) != 0
      if isSet != up, relation(ofCell: code, bits: bits + 1, isOther: true) != .outside {
        return true
      }
    }
    return true
  }

  /// How the cell of all codes with the first bits of this one lies to the box; if `isOther`, with
  /// the last of these bits the other way.
  private func relation(
    ofCell code: UnsafeRawBufferPointer, bits: Int, isOther: Bool = false
  ) -> Relation {
    var result = Relation.inside
    for column in 0..<count {
      // How the ends of the cell compare with those of the box: of each the first word that tells.
      var (lowEnd, highEnd) = (0, 0)
      var (lowToHigh, highToLow) = (0, 0)
      for index in 0..<count {
        var word = MortonBox.word(index, of: code)
        if isOther, (bits - 1) >> 6 == index { word ^= 1 << (63 - UInt64((bits - 1) & 63)) }
        let rest = UInt64.max >> UInt64(max(0, bits - 64 * index))
        let limit = limits[column * count + index]
        let (low, high) = (word & ~rest & limit.mask, (word | rest) & limit.mask)
        if lowEnd == 0 { lowEnd = MortonBox.order(low, limit.low) }
        if highEnd == 0 { highEnd = MortonBox.order(high, limit.high) }
        if lowToHigh == 0 { lowToHigh = MortonBox.order(low, limit.high) }
        if highToLow == 0 { highToLow = MortonBox.order(high, limit.low) }
      }
      if lowToHigh > 0 || highToLow < 0 { return .outside }
      if lowEnd < 0 || highEnd > 0 { result = .across }
    }
    return result
  }

  @inline(__always)
  private static func order(_ a: UInt64, _ b: UInt64) -> Int { a < b ? -1 : a == b ? 0 : 1 }
}
