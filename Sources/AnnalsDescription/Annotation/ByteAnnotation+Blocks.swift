import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Blocks: FORMAT.md, "Block records". Explains the summary field by field, and of each column the
// fields before it and, since it may be deflated, only the beginning of its contents.

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
      try section(&reader, name, of: name == "details" ? .records : .integers)
    }
    for entity in entities {
      let text = vocabulary.entityText(entity)
      let shapes = try section(&reader, "shapes of \(text)", of: .records)
      try section(&reader, "shape of each change of \(text)", of: .integers)
      try section(&reader, "rows of \(text)", of: .integers)
      for (property, side) in sides(of: shapes ?? []) {
        try section(
          &reader, "\(vocabulary.propertyText(property, of: entity)) of \(text) \(side)",
          of: .values)
      }
    }
  }

  /// The columns of values of an entity, from its shapes: in the order of the properties, for each
  /// the values before first.
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
