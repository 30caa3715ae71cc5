import AnnalsFormat

/// The bytes of a transaction by row, written by hand from FORMAT.md, "Transaction records", so
/// that any of them may be what no writer of this version makes.
struct LaterRecord {
  var number: Int
  /// The flags of the details, and what follows them.
  var details: [UInt8] = [0]
  var changes: [[UInt8]] = []

  var bytes: [UInt8] {
    // Timestamp 2, no author, no context, no opening.
    varInt(number) + [4, 0, 0, 0] + details + varInt(changes.count) + changes.flatMap { $0 }
  }

  /// A transaction whose schema change is one partial definition of the entity `Note`.
  static func schema(
    _ number: Int, flags: UInt8 = 8, next: Int = 6, attributes: [[UInt8]] = [],
    relationships: [[UInt8]] = [], indexes: [[UInt8]] = [], area: [UInt8] = []
  ) -> [UInt8] {
    let lists = [attributes, relationships, indexes.map(sized)]
    let flags = flags | (area.isEmpty ? 0 : 4)
    return LaterRecord(
      number: number,
      details: [8, 1, 1, flags] + string("Note") + varInt(next)
        + lists.flatMap { varInt($0.count) + $0.flatMap { $0 } }
        + (flags & 8 != 0 ? [0] : []) + (area.isEmpty ? [] : sized(area))
    ).bytes
  }

  /// An attribute `later`, number 5.
  static func attribute(type: UInt8 = 4, flags: UInt8 = 1, _ rest: [UInt8] = []) -> [UInt8] {
    [5] + string("later") + [type, flags] + rest
  }

  /// A relationship `later` to `Note`, number 5.
  static func relationship(flags: UInt8 = 0, _ rest: [UInt8] = []) -> [UInt8] {
    [5] + string("later") + [flags, 1] + rest
  }

  /// An index `later`, number 5.
  static func index(_ rest: [UInt8]) -> [UInt8] { [5] + string("later") + rest }

  /// An insert of a note, row 900, with its `text` (property 2).
  static func insert(text: [UInt8], kind: UInt8 = 0) -> [UInt8] {
    [4 | kind] + varInt(900 << 1) + [1, 2] + text
  }
}

/// A varint.
func varInt(_ number: Int) -> [UInt8] {
  var bytes: ContiguousArray<UInt8> = []
  bytes.append(varInt: UInt64(number))
  return Array(bytes)
}

func string(_ text: String) -> [UInt8] { sized(Array(text.utf8)) }

func sized(_ bytes: [UInt8]) -> [UInt8] { varInt(bytes.count) + bytes }
