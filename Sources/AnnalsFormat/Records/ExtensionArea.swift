/// The tagged area of transactions, directories, definitions and large values, for what versions
/// add: items of tag, length and bytes, tags rising. Readers skip what they do not know. Whoever
/// makes a structure anew copies the unknown items with odd tags and drops those with even ones.
///
/// FORMAT.md, "Extension areas", lists the tags. Those of properties stand with their `fields`.
package enum ExtensionArea {
  /// In a transaction: its clock had jumped back. No bytes.
  package static let clockJump: UInt64 = 1
  /// In a transaction: what it erased.
  static let erasure: UInt64 = 2
  /// In a transaction: its group, for undo. UTF-8.
  static let group: UInt64 = 3
  /// In a transaction: what it undoes or redoes.
  static let undo: UInt64 = 4
  /// In a transaction: the names of the migrations that it is.
  static let migration: UInt64 = 5
  /// In a transaction: where a log that replicas share has it. Sequence and digest.
  static let sharedLogPlace: UInt64 = 7
  /// In a definition of an entity: the edits of the schema that were made.
  static let madeEdits: UInt64 = 1
  /// In a definition of an attribute: how it is derived.
  static let derivation: UInt64 = 1
  /// In a directory: the checkpoint before it. Offset and number.
  static let olderCheckpoint: UInt64 = 2
  /// In a directory: the consumers.
  static let consumers: UInt64 = 4
  /// In a directory: how much history is kept.
  static let retention: UInt64 = 5
  /// In the directory of a base: the deletes that it remembers.
  static let tombstones: UInt64 = 6
  /// In a directory: the migrations made up to it.
  static let migrations: UInt64 = 8
  /// In a directory: where the states of projections are saved.
  static let savedProjections: UInt64 = 10
  /// In a directory: how many transactions up to it say that their clock had jumped back. A number.
  static let clockJumps: UInt64 = 12
  /// In a directory: the objects of segments of the history index.
  static let segmentObjects: UInt64 = 14

  /// What the items of a directory are, by tag from 1.
  package static let directoryItems = [
    unassigned, "checkpoint before: offset and number", unassigned, "consumers", "retention",
    "tombstones", unassigned, "migrations", unassigned, "saved projections", unassigned,
    "count of clock jumps", unassigned, "objects of segments",
  ]
  private static let unassigned = "not known"

  /// What the items of a transaction are, by tag from 1.
  package static let transactionItems = [
    "the clock had jumped back", "what was erased", "group", "what it undoes or redoes",
    "migration", unassigned, "its place in a shared log",
  ]

  /// What the items of an attribute are, by tag from 1.
  package static let attributeItems = ["how it is derived"]

  /// The items of an area that says that the transaction's clock had jumped back, and no more.
  package static let ofClockJump: ContiguousArray<UInt8> = [1, 0]

  /// Reads the area (a length and the items) and checks its structure; returns the items' bytes.
  package static func read(_ reader: inout ByteReader) throws(DecodeFault) -> ContiguousArray<UInt8>
  {
    let start = reader.offset
    let bytes = try reader.readSizedBytes()
    var items = ByteReader(bytes)
    var last: UInt64?
    while items.remaining > 0 {
      let tag = try items.readVarInt()
      if let last, tag <= last { throw .invalid(at: start, reason: "extensions out of order") }
      last = tag
      _ = try items.readSizedBytes()
    }
    return ContiguousArray(bytes)
  }

  /// Reads an area that is not empty.
  static func readSome(_ reader: inout ByteReader) throws(DecodeFault) -> ContiguousArray<UInt8> {
    let items = try read(&reader)
    guard !items.isEmpty else { throw reader.invalid("an empty extension area") }
    return items
  }

  /// The bytes of each item of an area that was read.
  package static func items(
    of area: ContiguousArray<UInt8>
  ) -> [(tag: UInt64, bytes: ContiguousArray<UInt8>)] {
    area.withUnsafeBytes { area in
      var result: [(UInt64, ContiguousArray<UInt8>)] = []
      var reader = ByteReader(area)
      while let tag = try? reader.readVarInt(), let bytes = try? reader.readSizedBytes() {
        result.append((tag, ContiguousArray(bytes)))
      }
      return result
    }
  }

  /// The items of an area that outlast a structure made anew: those with odd tags, and the known
  /// ones, which are made anew themselves.
  package static func lasting(
    _ area: ContiguousArray<UInt8>, besides known: Set<UInt64> = []
  ) -> ContiguousArray<UInt8> {
    if area.isEmpty { return area }
    return rest(of: area) { tag, _ in tag & 1 == 0 && !known.contains(tag) }
  }

  /// The items of an area but for those that `takes` returns true for.
  static func rest<E: Error>(
    of area: ContiguousArray<UInt8>,
    _ takes: (_ tag: UInt64, _ bytes: ContiguousArray<UInt8>) throws(E) -> Bool
  ) throws(E) -> ContiguousArray<UInt8> {
    var result: ContiguousArray<UInt8> = []
    for (tag, bytes) in items(of: area) where try !takes(tag, bytes) {
      append(tag, bytes, to: &result)
    }
    return result
  }

  /// The bytes of the item with a tag in an area that was read; nil without one.
  static func item(
    _ tag: UInt64, in area: ContiguousArray<UInt8>
  ) -> ContiguousArray<UInt8>? {
    if area.isEmpty { return nil }
    return area.withUnsafeBytes { area in
      var reader = ByteReader(area)
      while let found = try? reader.readVarInt(), let bytes = try? reader.readSizedBytes() {
        if found == tag { return ContiguousArray(bytes) }
      }
      return nil
    }
  }

  /// Whether an area that was read has an item of this tag.
  package static func has(_ tag: UInt64, in area: ContiguousArray<UInt8>) -> Bool {
    item(tag, in: area) != nil
  }

  /// Appends an item to the items of an area.
  package static func append(
    _ tag: UInt64, _ bytes: ContiguousArray<UInt8>, to items: inout ContiguousArray<UInt8>
  ) {
    items.append(varInt: tag)
    bytes.withUnsafeBytes { items.append(sized: $0) }
  }

  /// The items of an area with one more, in the order of their tags.
  static func adding(
    _ tag: UInt64, _ bytes: ContiguousArray<UInt8>, to items: ContiguousArray<UInt8>
  ) -> ContiguousArray<UInt8> {
    var result: ContiguousArray<UInt8> = []
    let others = self.items(of: items)
    for item in others where item.tag < tag { append(item.tag, item.bytes, to: &result) }
    append(tag, bytes, to: &result)
    for item in others where item.tag > tag { append(item.tag, item.bytes, to: &result) }
    return result
  }

  /// The items of an area but for the one with this tag.
  static func without(
    _ tag: UInt64, in items: ContiguousArray<UInt8>
  ) -> ContiguousArray<UInt8> {
    rest(of: items) { found, _ in found == tag }
  }

  /// Appends the area.
  package static func append(
    _ items: ContiguousArray<UInt8>, to bytes: inout ContiguousArray<UInt8>
  ) {
    items.withUnsafeBytes { bytes.append(sized: $0) }
  }
}
