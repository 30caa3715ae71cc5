import AnnalsModel

/// Encodes and decodes what a transaction erased: an item of its extension area.
///
///     list of (entity: varint, row: varint, list of property: varint), rising; reason: string
///
/// FORMAT.md, "Erased values".
package enum ErasureCodec {
  /// Adds the item to those of a transaction's area, in the order of their tags.
  package static func append(_ erasure: Erasure, to items: inout ContiguousArray<UInt8>) {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(count: erasure.targets.count)
    for target in erasure.targets {
      bytes.append(varInt: UInt64(target.object.entity))
      bytes.append(varInt: UInt64(bitPattern: target.object.row))
      bytes.append(count: target.properties.count)
      for property in target.properties { bytes.append(varInt: UInt64(property)) }
    }
    bytes.append(string: erasure.reason)
    items = ExtensionArea.adding(ExtensionArea.erasure, bytes, to: items)
  }

  /// What the transaction of a record erased; nil for most. Its area was read, and keeps the rules.
  package static func erasure(of record: TransactionRecord) -> Erasure? {
    if record.isPlain || record.extensions.isEmpty { return nil }
    return ExtensionArea.item(ExtensionArea.erasure, in: record.extensions)
      .flatMap { try? decode($0) }
  }

  /// Reads the item. Throws if it breaks a rule.
  static func decode(_ item: ContiguousArray<UInt8>) throws(DecodeFault) -> Erasure {
    try item.decoded(decode)
  }

  private static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> Erasure {
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 3)
    guard count > 0 else { throw reader.invalid("an erasure of nothing") }
    var targets: [Erasure.Target] = []
    for _ in 0..<count {
      let entity = try reader.readVarUInt32()
      let row = try reader.readVarInt64()
      guard entity > 0, row > 0, row <= FormatLimits.maximumRow else {
        throw reader.invalid("an erasure of no object")
      }
      let object = ObjectReference(entity: entity, row: row)
      if let last = targets.last, !(last.object < object) {
        throw reader.invalid("erased objects out of order")
      }
      targets.append(Erasure.Target(object, properties: try properties(&reader)))
    }
    let reason = try reader.readString()
    guard !reason.isEmpty else { throw reader.invalid("an erasure without a reason") }
    return Erasure(targets, reason: reason)
  }

  private static func properties(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> [PropertyNumber] {
    let count = try reader.readCount(limit: SchemaLimits.properties)
    var result: [PropertyNumber] = []
    for _ in 0..<count {
      let property = try reader.readVarUInt32()
      guard property > result.last ?? 0, property <= SchemaLimits.properties else {
        throw reader.invalid("erased properties out of order")
      }
      result.append(property)
    }
    return result
  }
}
