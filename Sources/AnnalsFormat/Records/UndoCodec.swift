import AnnalsModel

/// Encodes and decodes the place of a transaction in its author's undo history: two items of its
/// extension area.
///
///     tag 3: the group, UTF-8
///     tag 4: kind: u8 (1 undoes, 2 redoes), first: number; of kind 1 last - first: number
///
/// FORMAT.md, "Undo".
package enum UndoCodec {
  private static let undoes: UInt8 = 1
  private static let redoes: UInt8 = 2

  /// Adds the items to those of a transaction's area, in the order of their tags.
  package static func append(_ undo: UndoRecord, to items: inout ContiguousArray<UInt8>) {
    if let group = undo.group {
      items = ExtensionArea.adding(ExtensionArea.group, ContiguousArray(group.utf8), to: items)
    }
    guard let act = undo.act else { return }
    var bytes: ContiguousArray<UInt8> = []
    switch act {
    case .undoes(let numbers):
      bytes.append(undoes)
      bytes.append(varInt: UInt64(bitPattern: numbers.lowerBound))
      bytes.append(varInt: UInt64(bitPattern: numbers.upperBound - numbers.lowerBound))
    case .redoes(let number):
      bytes.append(redoes)
      bytes.append(varInt: UInt64(bitPattern: number))
    }
    items = ExtensionArea.adding(ExtensionArea.undo, bytes, to: items)
  }

  /// The undo record of a transaction; an empty one for most. Its area was read, and keeps the
  /// rules.
  package static func undo(of record: TransactionRecord) -> UndoRecord {
    var undo = UndoRecord()
    if record.isPlain || record.extensions.isEmpty { return undo }
    for item in ExtensionArea.items(of: record.extensions) {
      switch item.tag {
      case ExtensionArea.group: undo.group = try? group(item.bytes)
      case ExtensionArea.undo: undo.act = try? act(item.bytes, before: record.number)
      default: break
      }
    }
    return undo
  }

  /// Reads the name of a group. Throws if it breaks a rule.
  static func group(_ bytes: ContiguousArray<UInt8>) throws(DecodeFault) -> String {
    guard (1...UndoRecord.longestGroup).contains(bytes.count) else {
      throw .invalid(at: 0, reason: "a group without a name, or with one that is too long")
    }
    guard let name = String(validating: bytes, as: UTF8.self) else {
      throw .invalid(at: 0, reason: "text that is not UTF-8")
    }
    return name
  }

  /// Reads what the transaction `number` undoes or redoes. Throws if it breaks a rule.
  static func act(
    _ bytes: ContiguousArray<UInt8>, before number: Int64
  ) throws(DecodeFault) -> UndoRecord.Act {
    try bytes.decoded { reader throws(DecodeFault) in
      let kind = try reader.read(UInt8.self)
      guard kind == undoes || kind == redoes else { throw reader.newer("a kind of undo") }
      let first = try reader.readVarInt64()
      let length = kind == undoes ? try reader.readVarInt64() : 0
      // By subtraction: the numbers come from the file.
      guard first > 0, first < number, length < number - first else {
        throw reader.invalid("an undo of what is not before it")
      }
      return kind == undoes ? .undoes(first...first + length) : .redoes(first)
    }
  }
}
