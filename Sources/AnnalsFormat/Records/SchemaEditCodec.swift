import AnnalsModel

/// Encodes and decodes the edits that were made, with which an entity's definition remembers them:
/// an item of its extension area.
///
///     list of (kind: u8, names: list of string)
///
/// FORMAT.md, "Schema".
enum SchemaEditCodec {
  /// The extension area of a definition: its unknown items with the edits among them.
  static func area(of entity: Entity) -> ContiguousArray<UInt8> {
    guard !entity.madeEdits.isEmpty else { return entity.extensions }
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(count: entity.madeEdits.count)
    for edit in entity.madeEdits {
      bytes.append(edit.kind.rawValue)
      let names = edit.names
      bytes.append(count: names.count)
      for name in names { bytes.append(string: name) }
    }
    return ExtensionArea.adding(ExtensionArea.madeEdits, bytes, to: entity.extensions)
  }

  /// Takes an area that was read into a definition: the edits, and the items that are not known.
  static func adopt(
    _ area: ContiguousArray<UInt8>, into entity: inout Entity
  ) throws(DecodeFault) {
    entity.extensions = try ExtensionArea.rest(of: area) { (tag, bytes) throws(DecodeFault) in
      guard tag == ExtensionArea.madeEdits else { return false }
      entity.madeEdits = try bytes.decoded(decode)
      return true
    }
  }

  private static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> [SchemaEdit] {
    var edits: [SchemaEdit] = []
    for _ in 0..<(try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 3)) {
      let kind = try reader.readUInt8()
      var names: [String] = []
      for _ in 0..<(try reader.readCount(limit: 3, minimumLength: 1)) {
        names.append(try reader.readString())
      }
      guard let kind = SchemaEdit.Kind(rawValue: kind) else {
        throw reader.newer("an edit of the schema")
      }
      guard let edit = SchemaEdit(kind, names) else {
        throw reader.invalid("an edit of the schema that is none")
      }
      edits.append(edit)
    }
    guard !edits.isEmpty else { throw reader.invalid("a list of no edits") }
    return edits
  }
}
