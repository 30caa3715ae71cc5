import AnnalsFormat
import AnnalsModel

// Keys are bytes whose order is the order of the index. For each column, in order, an element: a
// byte that says the kind, its tag, and
//
//   bool                   a byte
//   int, date              eight bytes, most significant first, the sign bit flipped
//   double                 eight bytes, most significant first, all bits flipped if negative, else
//                          the sign bit
//   uuid                   sixteen bytes
//   string url data json   the bytes, 0 written as 0 255, then 0 0
//   object                 entity (four bytes) and row (eight), most significant first
//   decimal                its bytes, of which none is 0, then 0; its kind is said by 11
//   day                    0, then as an int; its kind is said by 11
//   erased                 nothing; in an ordered index only
//
// In a descending column the first byte is 64 less the tag, and all bits behind it are flipped.
//
// So values of several kinds, in a column of kind `any`, are in the order of their tags: every int
// before every double, and decimals and days behind all others but erased ones. Different values
// give different keys, -0.0 and 0.0 too: equality is that of kind and bytes. No key is the
// beginning of another of the same index.
//
// A unique index holds no object without a value for every column, or with an erased one.
// An ordered index holds every
// object, once:
//
// - No value is the byte 0 where nulls come first, 128 where they come last, in either direction.
// - Of a text (url, data, json) over 256 bytes it holds the first 256, then 0 1 in place of 0 0:
//   the key is *cut*, and ends there. It ends, too, behind the column with which it reaches 512
//   bytes. Objects whose keys are equal and cut are next to each other; whoever reads them in order
//   puts them in the order of their values.
// - An object with a large value, of whose bytes a state has none, has the key 255 alone: behind
//   all others, in no order.
// - Behind the key stands the row less 1, in five bytes, so that entries differ.
//
// A box index, which has no order, holds the objects that have a number or a date in every column:
// the bits of the columns' eight bytes in turn (`MortonCoder`), and the row as above.
//
// FORMAT.md, "Index chunks".

/// The result of encoding a value as a key's element.
enum KeyElement {
  case whole
  /// The beginning of a text; nothing may follow it.
  case cut
  /// Nothing was appended: there is no value.
  case absent
  /// Nothing was appended: the value is stored as a large one.
  case large
}

/// A column of a key, and how its values are encoded.
struct KeyColumn: Sendable {
  /// The position of the column in the table.
  var place: Int
  var isDescending: Bool
  /// The element that stands for no value, in an ordered index.
  let null: ContiguousArray<UInt8>
  /// Whether `null` is a default value that is cut.
  let isNullCut: Bool
  /// As `null`, but never cut.
  let uncutNull: ContiguousArray<UInt8>
  /// What no value counts as in a box index; nil if the object then has no key.
  let nullBits: UInt64?

  init(_ column: IndexShape.Column, place: Int) {
    self.place = place
    isDescending = column.isDescending
    guard let value = column.valueForNull else {
      null = [column.nullsFirst ? KeyBytes.nullFirst : KeyBytes.nullLast]
      uncutNull = null
      isNullCut = false
      nullBits = nil
      return
    }
    var arena: ContiguousArray<UInt8> = []
    nullBits = ValueCell(value, appendingTo: &arena).orderedBits
    var (limited, full) = (ContiguousArray<UInt8>(), ContiguousArray<UInt8>())
    isNullCut =
      limited.append(element: value, isDescending: isDescending, limit: KeyBytes.textLimit) == .cut
    _ = full.append(element: value, isDescending: isDescending)
    (null, uncutNull) = (limited, full)
  }
}

/// The bytes of keys that stand for themselves.
enum KeyBytes {
  static let nullFirst: UInt8 = 0
  static let nullLast: UInt8 = 128
  /// The key of an object that has a large value.
  static let unordered: UInt8 = 255
  /// What the kind of a descending element is subtracted from.
  static let descending: UInt8 = 64
  /// What says the kind of decimals and days, so that they are in front of erased values.
  static let decimalOrDay = ValueTag.objects.rawValue
  /// How many bytes of a text an ordered index holds.
  static let textLimit = 256
  /// With how many bytes the key of an ordered index ends before its last column.
  static let lengthLimit = 512
  /// How many bytes a row takes behind the key of an ordered index.
  static let rowLength = IndexEntries.rowLength
}

extension ContiguousArray<UInt8> {
  /// Appends the element for a value, of a text at most `limit` bytes.
  @inline(__always)
  mutating func append(
    element cell: ValueCell, in arena: UnsafeRawBufferPointer, isDescending: Bool,
    limit: Int = .max
  ) -> KeyElement {
    if cell.isLarge { return .large }
    let start = count
    var result = KeyElement.whole
    switch cell.tag {
    case .null, .objects: return .absent
    case .erased: append(cell.tag.rawValue)
    case .bool:
      append(cell.tag.rawValue)
      append(cell.bits == 0 ? 0 : 1)
    case .int, .date: return append(number: cell.bits ^ 1 << 63, cell.tag, isDescending)
    case .double:
      let word = cell.bits >> 63 == 1 ? ~cell.bits : cell.bits ^ 1 << 63
      return append(number: word, cell.tag, isDescending)
    case .day:
      append(KeyBytes.decimalOrDay)
      append(0)
      append(bigEndian: cell.bits ^ 1 << 63)
    case .decimal:
      append(KeyBytes.decimalOrDay)
      append(contentsOf: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
      append(0)
    case .uuid:
      append(cell.tag.rawValue)
      append(contentsOf: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
    case .object:
      append(cell.tag.rawValue)
      append(bigEndian: cell.length)
      append(bigEndian: cell.bits)
    case .string, .url, .data, .json:
      append(cell.tag.rawValue)
      let bytes = UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
      let isCut = bytes.count > limit
      append(escaped: isCut ? UnsafeRawBufferPointer(rebasing: bytes[..<limit]) : bytes)
      append(0)
      append(isCut ? 1 : 0)
      if isCut { result = .cut }
    }
    if isDescending { invert(from: start) }
    return result
  }

  /// Appends the element for a value of a unique index, where an erased one is as if it were not
  /// there: what was erased collides with nothing.
  @inline(__always)
  mutating func append(
    uniqueElement cell: ValueCell, in arena: UnsafeRawBufferPointer, isDescending: Bool
  ) -> KeyElement {
    if cell.tag == .erased { return .absent }
    return append(element: cell, in: arena, isDescending: isDescending)
  }

  /// Appends the element for a value, of a text at most `limit` bytes.
  mutating func append(
    element value: Value, isDescending: Bool, limit: Int = .max
  ) -> KeyElement {
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(value, appendingTo: &arena)
    return arena.withUnsafeBytes {
      append(element: cell, in: $0, isDescending: isDescending, limit: limit)
    }
  }

  @inline(__always)
  private mutating func append(number: UInt64, _ tag: ValueTag, _ isDescending: Bool) -> KeyElement
  {
    append(isDescending ? KeyBytes.descending &- tag.rawValue : tag.rawValue)
    append(bigEndian: isDescending ? ~number : number)
    return .whole
  }

  /// Appends the key of an ordered index of one column, for a row with a number or a date.
  @inline(__always)
  mutating func append(numberKey number: UInt64, _ tag: ValueTag, _ isDescending: Bool, row: Int64)
  {
    let kind = isDescending ? KeyBytes.descending &- tag.rawValue : tag.rawValue
    let bits = isDescending ? ~number : number
    // The kind, eight bytes, and five of the row.
    let low = bits << 56 | (UInt64(bitPattern: row &- 1) << 24) >> 8
    let words = ((UInt64(kind) << 56 | bits >> 8).bigEndian, low.bigEndian)
    Swift.withUnsafeBytes(of: words) {
      append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<14]))
    }
  }

  private mutating func invert(from start: Int) {
    self[start] = KeyBytes.descending &- self[start]
    for index in start + 1..<count { self[index] = ~self[index] }
  }

  private mutating func append<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }

  private mutating func append(escaped bytes: UnsafeRawBufferPointer) {
    if !bytes.contains(0) {
      append(contentsOf: bytes)
    } else {
      for byte in bytes {
        append(byte)
        if byte == 0 { append(0xFF) }
      }
    }
  }
}
