import AnnalsModel
import AnnalsState

// A key word is eight bytes whose order is that of the values it is made of: smaller words, smaller
// values. The upper four bits say the kind, the others what fits of the value:
//
//   bool                   the bit
//   int, date, day         the number in 59 bits, then a bit: something was left out
//   double                 the upper 59 bits in an order of their own, then the same bit
//   decimal                as a double of the greatest that is not greater; where all numbers are
//                          decimals, as a text, of kind 3
//   uuid                   the upper 60 bits
//   string url data json   seven bytes, then in four bits how many there are, 8 for more
//   object                 entity and row
//   erased                 nothing: behind all others, before no value where that comes last
//
// Numbers are one kind. Where a key's numbers are whole by its type, they are written as an int is,
// otherwise as a double is.

/// How values are encoded as words.
struct KeyWord {
  /// Whether the property's type has only integers.
  var areNumbersWhole: Bool
  /// Whether it has only decimals.
  var areNumbersDecimals = false

  /// Whether values with equal words are equal.
  @inline(__always)
  static func isExact(_ word: UInt64) -> Bool {
    switch word >> 60 {
    case 1, 12: true
    case 2, 5, 10, 11: word & 1 == 0
    case 3, 4, 7, 8, 9: word & 15 < 8
    default: false
    }
  }

  /// The word of a value that is neither a text nor null.
  @inline(__always)
  func word(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) -> UInt64 {
    let rank = UInt64(cell.tag.rank) << 60
    switch cell.tag {
    case .bool: return rank | (cell.bits & 1)
    case .date, .day: return rank | KeyWord.whole(Int64(bitPattern: cell.bits))
    case .int:
      let number = Int64(bitPattern: cell.bits)
      return rank | (areNumbersWhole ? KeyWord.whole(number) : KeyWord.real(number))
    case .double:
      let number = Double(bitPattern: cell.bits)
      return rank | (areNumbersWhole ? KeyWord.whole(number) : KeyWord.real(number, isCut: false))
    case .decimal:
      if areNumbersDecimals {
        return KeyWord.text(cell.bytes(in: arena), KeyWord.decimalKind, at: 0)
      }
      let (nearest, isCut) = KeyWord.nearest(RawDecimal(validBytes: cell.bytes(in: arena)))
      return rank | KeyWord.real(nearest, isCut: isCut)
    case .uuid:
      let start = arena.loadUnaligned(fromByteOffset: Int(cell.bits), as: UInt64.self)
      return rank | start.bigEndian >> 4
    case .object:
      let row = cell.bits
      guard cell.length < 1 << 16, row < 1 << 41 else { return rank | (1 << 60 - 1) }
      return rank | UInt64(cell.length) << 43 | row << 2
    case .string, .url, .data, .json: return KeyWord.text(cell.bytes(in: arena), cell.tag, at: 0)
    case .null, .objects, .erased: return rank
    }
  }

  /// What words of decimals among decimals have for the kind, and what no word of another value
  /// has.
  static let decimalKind = ValueTag.double

  /// The greatest double that is not greater than a decimal, and whether it is less.
  private static func nearest(_ number: RawDecimal) -> (Double, isCut: Bool) {
    let nearest = number.nearestDouble
    switch Outcome.ofNumbers(number, nearest) {
    case .equal: return (nearest == 0 ? 0 : nearest, false)
    case .less: return (nearest.nextDown, true)
    default: return (nearest, true)
    }
  }

  /// The word of a text's bytes from `start` on.
  @inline(__always)
  static func text(_ bytes: UnsafeRawBufferPointer, _ tag: ValueTag, at start: Int) -> UInt64 {
    let rest = bytes.count - start
    let count = UInt64(max(0, min(rest, 8)))
    var word: UInt64 = 0
    if rest >= 8 {
      word = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian >> 8
    } else {
      for index in 0..<max(0, min(rest, 7)) {
        word |= UInt64(bytes[start + index]) << UInt64(48 - 8 * index)
      }
    }
    return UInt64(tag.rawValue) << 60 | word << 4 | count
  }

  /// The word of an integer; the few that do not fit become the least or the greatest.
  @inline(__always)
  private static func whole(_ number: Int64) -> UInt64 {
    let limit: Int64 = 1 << 58
    if number <= -limit { return 1 }
    if number >= limit { return (1 << 60) - 1 }
    return UInt64(number &+ limit) << 1
  }

  /// A double among integers, rounded down.
  private static func whole(_ number: Double) -> UInt64 {
    guard number > -0x1p58, number < 0x1p58 else {
      return number < 0 || number.isNaN && number.sign == .minus ? 1 : (1 << 60) - 1
    }
    // -0.0 comes before 0.
    if number == 0, number.sign == .minus { return whole(-1 as Int64) | 1 }
    let floor = number.rounded(.down)
    return whole(Int64(floor)) | (floor == number ? 0 : 1)
  }

  /// The part of a number that its word leaves out.
  func rest(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) -> UInt64 {
    let rank = UInt64(ValueTag.int.rawValue) << 60
    if areNumbersWhole { return rank | 1 }
    if cell.tag == .double { return rank | (Double(bitPattern: cell.bits).order & 31) << 1 }
    if cell.tag == .decimal {
      let (nearest, isCut) = KeyWord.nearest(RawDecimal(validBytes: cell.bytes(in: arena)))
      return rank | (nearest.order & 31) << 1 | (isCut ? 1 : 0)
    }
    let number = Int64(bitPattern: cell.bits)
    let nearest = KeyWord.nearest(number)
    return rank | (nearest.order & 31) << 1 | (Int64(nearest) == number ? 0 : 1)
  }

  /// A double; `isCut` if it stands for a greater number.
  @inline(__always)
  private static func real(_ number: Double, isCut: Bool) -> UInt64 {
    let order = number.order
    return (order >> 5) << 1 | (isCut || order & 31 != 0 ? 1 : 0)
  }

  /// A whole number among doubles.
  private static func real(_ number: Int64) -> UInt64 {
    let nearest = nearest(number)
    return real(nearest, isCut: Int64(nearest) != number)
  }

  /// The greatest double that is not greater than a whole number.
  private static func nearest(_ number: Int64) -> Double {
    let nearest = Double(number)
    return nearest >= 0x1p63 || Int64(nearest) > number ? nearest.nextDown : nearest
  }
}

extension Double {
  /// The bits in an order of their own: NaNs at both ends, -0.0 before 0.0.
  @inline(__always) var order: UInt64 {
    bitPattern >> 63 == 1 ? ~bitPattern : bitPattern ^ 1 << 63
  }
}
