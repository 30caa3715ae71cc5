import AnnalsFormat
import AnnalsModel

// Blocks: FORMAT.md, "Block records". The summary is explained field by field, columns by what
// stands before them; of their contents, which may be deflated, only how they begin.

extension ByteAnnotation {
  func block(_ reader: inout FieldReader) throws(DecodeFault) {
    let form = try reader.byte("form") { $0 == 0 ? "whole transactions" : "\($0), a part of one" }
    let first = try reader.varInt(form == 0 ? "number of the first transaction" : "number")
    try reader.varInt(form == 0 ? "count of transactions" : "part") { number in
      form == 0 && number > 0 ? "\(number), to \(first &+ number &- 1)" : "\(number)"
    }
    let minimum = try reader.zigzag("least timestamp", text: ByteAnnotation.time)
    try reader.varInt("span of timestamps") {
      "to " + ByteAnnotation.time(minimum &+ Int64(bitPattern: $0))
    }
    try reader.varInt("count of changes")
    try nameList(&reader, "count of authors")
    try nameList(&reader, "count of contexts")
    var entities: [EntityNumber] = []
    try list(&reader, "count of entities") { reader throws(DecodeFault) in
      entities.append(try entitySummary(&reader))
    }
    try columns(&reader, entities)
  }

  private func nameList(_ reader: inout FieldReader, _ name: String) throws(DecodeFault) {
    try list(&reader, name) { reader throws(DecodeFault) in
      try reader.varInt("name") { number in
        NameNumber(exactly: number).map { vocabulary.nameText($0) } ?? "\(number)"
      }
    }
  }

  private func entitySummary(_ reader: inout FieldReader) throws(DecodeFault) -> EntityNumber {
    let raw = try reader.varInt("entity") {
      vocabulary.entityText(EntityNumber(truncatingIfNeeded: $0))
    }
    reader.depth += 1
    try reader.varInt("count of changes")
    let least = try reader.varInt("least row")
    try reader.varInt("span of rows") { "to \(least &+ $0)" }
    try reader.byte("kinds of change") { flagText($0, ["insert", "update", "delete"]) }
    _ = try bitVector(&reader)
    reader.depth -= 1
    return EntityNumber(truncatingIfNeeded: raw)
  }

  private func columns(
    _ reader: inout FieldReader, _ entities: [EntityNumber]
  ) throws(DecodeFault) {
    let names = [
      "timestamps", "authors", "contexts", "openings", "counts of changes", "details",
      "order of entities",
    ]
    for name in names {
      try column(&reader, name, isIntegers: name != "details")
    }
    for entity in entities {
      let text = vocabulary.entityText(entity)
      let shapes = try column(&reader, "shapes of \(text)", isIntegers: false)
      try column(&reader, "shape of each change of \(text)", isIntegers: true)
      try column(&reader, "rows of \(text)", isIntegers: true)
      for (property, side) in sides(of: shapes ?? []) {
        try column(
          &reader, "\(vocabulary.propertyText(property, of: entity)) of \(text) \(side)",
          isIntegers: false, isValues: true)
      }
    }
  }

  /// Explains one column; returns its contents if they can be read.
  @discardableResult
  private func column(
    _ reader: inout FieldReader, _ name: String, isIntegers: Bool, isValues: Bool = false
  ) throws(DecodeFault) -> ContiguousArray<UInt8>? {
    let head = try reader.varInt("length of \(name)") { head in
      "\(head >> 1) bytes, " + (head & 1 == 1 ? "deflated" : "as they are")
    }
    reader.depth += 1
    defer { reader.depth -= 1 }
    let length = Int(clamping: head >> 1)
    if head & 1 == 0 {
      let bytes = try reader.peek(length)
      try reader.opaque(name, summary(of: bytes, isIntegers, isValues), count: length)
      return ContiguousArray(bytes)
    }
    let stream = try reader.varInt("length of the deflate stream")
    let deflated = try reader.peek(Int(clamping: stream))
    let inflated = try? Inflate.decompress(deflated, length: length, limit: reader.allowance)
    reader.allowance -= inflated?.count ?? 0
    let text =
      inflated?.withUnsafeBytes { summary(of: $0, isIntegers, isValues) }
      ?? "a damaged deflate stream"
    try reader.opaque(
      name, text.isEmpty ? "deflated" : "deflated, \(text)", count: Int(clamping: stream))
    return inflated
  }

  /// How a column's contents are laid out.
  private func summary(
    of bytes: UnsafeRawBufferPointer, _ isIntegers: Bool, _ isValues: Bool
  ) -> String {
    guard let first = bytes.first else { return "" }
    if isIntegers {
      return IntegerColumn.Layout(rawValue: first).map { "integers, \($0)" } ?? ""
    }
    guard isValues else { return "" }
    if first == 0xFF { return "values of several kinds" }
    guard let tag = ValueTag(rawValue: first & 15) else { return "" }
    return "values of kind \(tag)" + (first & 16 != 0 ? ", as large values" : "")
      + (first & 32 != 0 ? ", as edits" : "")
  }

  /// Which columns of values an entity has, by its shapes: in the order of the properties, first
  /// the values before.
  private func sides(
    of shapes: ContiguousArray<UInt8>
  ) -> [(property: PropertyNumber, side: String)] {
    var before: Set<PropertyNumber> = []
    var after: Set<PropertyNumber> = []
    shapes.withUnsafeBytes { bytes in
      var reader = FieldReader(bytes, at: 0) { _, _ in }
      guard let count = try? reader.varInt("shapes") else { return }
      var index: UInt64 = 0
      while index < count, let kind = try? reader.byte("kind"),
        let properties = try? bitVector(&reader)
      {
        if kind != ChangeKind.insert.rawValue { before.formUnion(properties) }
        if kind != ChangeKind.delete.rawValue { after.formUnion(properties) }
        index += 1
      }
    }
    return before.union(after).sorted().flatMap { property in
      [(before, "before"), (after, "after")].filter { $0.0.contains(property) }
        .map { (property, $0.1) }
    }
  }
}
