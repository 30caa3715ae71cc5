import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Transaction records by row: FORMAT.md, "Transaction records" and "Transaction details".

extension ByteAnnotation {
  func record(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number") { "transaction \($0)" }
    try reader.zigzag("timestamp", text: ByteAnnotation.time)
    try reader.varInt("author", text: name)
    try reader.varInt("context", text: name)
    try reader.varInt("opening") { $0 == 0 ? "none" : "\($0)" }
    try details(&reader)
    let count = try reader.count("count of changes")
    var row: Int64 = 0
    var index: UInt64 = 0
    while index < count {
      try change(&reader, previousRow: &row)
      index += 1
    }
  }

  private func name(_ number: UInt64) -> String {
    NameNumber(exactly: number).map { vocabulary.nameText($0) } ?? "\(number)"
  }

  /// The fields of a transaction other than its changes.
  func details(_ reader: inout FieldReader) throws(DecodeFault) {
    let names = ["new names", "new opening", "metadata", "schema change", "extensions", "gap"]
    let flags = try reader.byte("flags of details") { flags in
      let set = names.indices.filter { flags & 1 << UInt8($0) != 0 }.map { names[$0] }
      return set.isEmpty ? "none" : set.joined(separator: ", ")
    }
    if flags & 1 != 0 {
      try reader.varInt("number of the first new name")
      try list(&reader, "count of new names") { reader throws(DecodeFault) in
        try reader.string("name")
      }
    }
    if flags & 2 != 0 { try opening(&reader) }
    if flags & 4 != 0 {
      try list(&reader, "count of metadata") { reader throws(DecodeFault) in
        try reader.string("key")
        try value(&reader, "value")
      }
    }
    if flags & 8 != 0 { try schema(&reader) }
    if flags & 16 != 0 {
      try extensions(&reader, ["the clock had jumped back", "what was erased"])
    }
    if flags & 32 != 0 {
      try gap(&reader)
      try list(&reader, "count of openings") { reader throws(DecodeFault) in
        try opening(&reader)
      }
    }
  }

  /// What a gap record says of the transactions that it replaces, except for their openings.
  func gap(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("first lost transaction")
    let flags = try reader.byte("flags of the gap") {
      flagText($0, ["the state after it is exact", "a transaction follows"])
    }
    try reader.zigzag("salvaged", text: ByteAnnotation.time)
    if flags & 2 != 0 { try reader.zigzag("timestamp behind", text: ByteAnnotation.time) }
    try reader.string("reason")
    try list(&reader, "count of entities with stale objects") { reader throws(DecodeFault) in
      try reader.varInt("entity") {
        vocabulary.entityText(EntityNumber(truncatingIfNeeded: $0))
      }
      try reader.varInt("objects that may be stale")
    }
  }

  func opening(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number of the opening")
    try reader.fixed("id of the opening", UInt64.self) { String($0, radix: 16) }
    try reader.zigzag("process id")
    try reader.string("process name")
  }

  /// An extension area. `known` names the tags from 1 on.
  func extensions(_ reader: inout FieldReader, _ known: [String]) throws(DecodeFault) {
    try reader.sized("length of the extension area") { reader throws(DecodeFault) in
      while reader.remaining > 0 {
        let tag = try reader.varInt("tag") { tag in
          tag > 0 && tag <= known.count ? "\(tag), \(known[Int(tag) - 1])" : "\(tag), not known"
        }
        let length = try reader.varInt("length of item \(tag)")
        try reader.opaque("item \(tag)", count: Int(clamping: length))
      }
    }
  }

  /// A count, and as many items, one level deeper. An item that reads nothing ends the list: a
  /// later version wrote the rest.
  func list(
    _ reader: inout FieldReader, _ name: String,
    _ item: (inout FieldReader) throws(DecodeFault) -> Void
  ) throws(DecodeFault) {
    let count = try reader.count(name)
    reader.depth += 1
    var index: UInt64 = 0
    while index < count {
      // Every item takes at least a byte, so a wrong count ends with the bytes.
      guard reader.remaining > 0 else {
        throw .truncated(at: reader.reader.offset, needed: Int(clamping: count - index))
      }
      let before = reader.remaining
      try item(&reader)
      if reader.remaining == before { break }
      index += 1
    }
    reader.depth -= 1
  }

  private func change(
    _ reader: inout FieldReader, previousRow: inout Int64
  ) throws(DecodeFault) {
    reader.depth = 1
    let kinds = ["insert", "update", "delete", "unknown kind"]
    let head = try reader.varInt("change") { head in
      let entity = EntityNumber(truncatingIfNeeded: head >> 2)
      return "\(kinds[Int(head & 3)]) of \(vocabulary.entityText(entity))"
    }
    reader.depth = 2
    let last = previousRow
    let step = try reader.zigzag("row, from the one before") { "\($0): row \(last &+ $0)" }
    previousRow = last &+ step
    let entity = EntityNumber(truncatingIfNeeded: head >> 2)
    let kind = ChangeKind(rawValue: UInt8(head & 3))
    for property in try bitVector(&reader) {
      let name = vocabulary.propertyText(property, of: entity)
      if kind != .insert { try value(&reader, "\(name) before") }
      if kind != .delete { try value(&reader, "\(name) after") }
    }
    reader.depth = 1
  }

  /// The set of properties of a change, an entity or a shape.
  func bitVector(_ reader: inout FieldReader) throws(DecodeFault) -> [PropertyNumber] {
    let length = try reader.varInt("length of the bit vector")
    guard length <= UInt64(FormatLimits.maximumPropertyNumber) / 8 + 1 else {
      throw .tooLarge(at: reader.reader.offset, limit: UInt64(FormatLimits.maximumPropertyNumber))
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
    let bytes = try reader.field(
      "properties", { reader throws(DecodeFault) in try reader.readBytes(Int(length)) },
      text: { numbers($0).prefix(32).map { "\($0)" }.joined(separator: " ") })
    return numbers(bytes)
  }

  /// A tagged value, as one field.
  func value(_ reader: inout FieldReader, _ name: String) throws(DecodeFault) {
    var arena: ContiguousArray<UInt8> = []
    try reader.field(name) { reader throws(DecodeFault) in
      try ValueCodec.decode(&reader, arena: &arena)
    } text: { decoded in
      arena.withUnsafeBytes {
        let text = ValueText.text(
          decoded.cell, in: $0, isEdits: decoded.isEdits, vocabulary: vocabulary)
        return decoded.cell.isNull || decoded.cell.isLarge ? text : "\(decoded.cell.tag) \(text)"
      }
    }
  }
}
