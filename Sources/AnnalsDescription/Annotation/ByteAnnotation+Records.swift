import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Transaction records by row: FORMAT.md, "Transaction records" and "Transaction details".

extension ByteAnnotation {
  func record(_ reader: inout FieldReader) {
    reader.varInt("number") { "transaction \($0)" }
    reader.time("timestamp")
    reader.varInt("author", text: nameText)
    reader.varInt("context", text: nameText)
    reader.varInt("opening") { $0 == 0 ? "none" : "\($0)" }
    details(&reader)
    let count = reader.varInt("count of changes")
    var row: Int64 = 0
    var index: UInt64 = 0
    while index < count, change(&reader, previousRow: &row) { index += 1 }
  }

  func nameText(_ number: UInt64) -> String {
    NameNumber(exactly: number).map { vocabulary.nameText($0) } ?? "\(number)"
  }

  /// The number of an entity, with its name.
  @discardableResult
  func entityNumber(_ reader: inout FieldReader, _ name: String = "entity") -> EntityNumber {
    EntityNumber(
      truncatingIfNeeded: reader.varInt(name) {
        vocabulary.entityText(EntityNumber(truncatingIfNeeded: $0))
      })
  }

  /// The number of a property of this entity, with its name; 0 stands for the rows.
  func propertyNumber(_ reader: inout FieldReader, of entity: EntityNumber) {
    reader.varInt("property") {
      vocabulary.propertyText(PropertyNumber(truncatingIfNeeded: $0), of: entity)
    }
  }

  /// The fields of a transaction other than its changes.
  func details(_ reader: inout FieldReader) {
    let flags = reader.flags(
      "flags of details",
      ["new names", "new opening", "metadata", "schema change", "extensions", "gap"])
    if flags & 1 != 0 {
      reader.varInt("number of the first new name")
      reader.list("count of new names") { $0.string("name") }
    }
    if flags & 2 != 0 { opening(&reader) }
    if flags & 4 != 0 {
      reader.list("count of metadata") { reader in
        reader.string("key")
        value(&reader, "value")
      }
    }
    if flags & 8 != 0 { schema(&reader) }
    if flags & 16 != 0 { reader.extensions(ExtensionArea.transactionItems) }
    if flags & 32 != 0 {
      gap(&reader)
      reader.list("count of openings", opening)
    }
  }

  /// What a gap record says of the transactions that it replaces, except for their openings.
  func gap(_ reader: inout FieldReader) {
    reader.varInt("first lost transaction")
    let flags = reader.flags(
      "flags of the gap", ["the state after it is exact", "a transaction follows"])
    reader.time("salvaged")
    if flags & 2 != 0 { reader.time("timestamp behind") }
    reader.string("reason")
    reader.list("count of entities with stale objects") { reader in
      entityNumber(&reader)
      reader.varInt("objects that may be stale")
    }
  }

  func opening(_ reader: inout FieldReader) {
    reader.varInt("number of the opening")
    reader.id("id of the opening")
    reader.zigzag("process id")
    reader.string("process name")
  }

  /// One change; false if there is none to be read.
  private func change(_ reader: inout FieldReader, previousRow: inout Int64) -> Bool {
    reader.depth = 1
    let kinds = ["insert", "update", "delete", "unknown kind"]
    let head = reader.varInt("change") { head in
      let entity = EntityNumber(truncatingIfNeeded: head >> 2)
      return "\(kinds[Int(head & 3)]) of \(vocabulary.entityText(entity))"
    }
    reader.depth = 2
    let last = previousRow
    previousRow = last &+ reader.zigzag("row, from the one before") { "\($0): row \(last &+ $0)" }
    let entity = EntityNumber(truncatingIfNeeded: head >> 2)
    let kind = ChangeKind(rawValue: UInt8(head & 3))
    for property in bitVector(&reader) {
      let name = vocabulary.propertyText(property, of: entity)
      if kind != .insert { value(&reader, "\(name) before") }
      if kind != .delete { value(&reader, "\(name) after") }
    }
    reader.depth = 1
    return !reader.hasFailed
  }

  /// The set of properties of a change, an entity or a shape.
  func bitVector(_ reader: inout FieldReader) -> [PropertyNumber] {
    let length = reader.varInt("length of the bit vector")
    guard length <= UInt64(FormatLimits.maximumPropertyNumber) / 8 + 1 else {
      reader.fail(.tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumPropertyNumber)))
      return []
    }
    func numbers(_ bytes: UnsafeRawBufferPointer) -> [PropertyNumber] {
      var result: [PropertyNumber] = []
      for (index, byte) in bytes.enumerated() {
        for bit in 0..<8 where byte >> UInt8(bit) & 1 == 1 {
          result.append(PropertyNumber(index * 8 + bit + 1))
        }
      }
      return result
    }
    let bytes = reader.field(
      "properties", text: { numbers($0).prefix(32).map { "\($0)" }.joined(separator: " ") },
      { reader throws(DecodeFault) in try reader.readBytes(Int(length)) })
    return bytes.map(numbers) ?? []
  }

  /// A tagged value, as one field.
  func value(_ reader: inout FieldReader, _ name: String) {
    var arena: ContiguousArray<UInt8> = []
    reader.field(name) { decoded in
      arena.withUnsafeBytes {
        let text = ValueText.text(
          decoded.cell, in: $0, isEdits: decoded.isEdits, vocabulary: vocabulary)
        return decoded.cell.isNull || decoded.cell.isLarge ? text : "\(decoded.cell.tag) \(text)"
      }
    } _: { reader throws(DecodeFault) in
      try ValueCodec.decode(&reader, arena: &arena)
    }
  }
}
