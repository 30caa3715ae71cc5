import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Blocks: FORMAT.md, "Block records". Explains the summary field by field, and of each column the
// fields before it and, since it may be deflated, only the beginning of its contents.

extension ByteAnnotation {
  func block(_ reader: inout FieldReader) {
    let form = reader.byte("form") { $0 == 0 ? "whole transactions" : "\($0), a part of one" }
    let first = reader.varInt(form == 0 ? "number of the first transaction" : "number")
    reader.varInt(form == 0 ? "count of transactions" : "part") { number in
      form == 0 && number > 0 ? "\(number), to \(first &+ number &- 1)" : "\(number)"
    }
    let minimum = reader.time("least timestamp")
    reader.varInt("span of timestamps") {
      "to " + ByteAnnotation.time(minimum &+ Int64(bitPattern: $0))
    }
    reader.varInt("count of changes")
    for name in ["count of authors", "count of contexts"] {
      reader.list(name) { $0.varInt("name", text: nameText) }
    }
    var entities: [EntityNumber] = []
    reader.list("count of entities") { entities.append(entitySummary(&$0)) }
    columns(&reader, entities)
  }

  private func entitySummary(_ reader: inout FieldReader) -> EntityNumber {
    let number = entityNumber(&reader)
    reader.depth += 1
    reader.varInt("count of changes")
    let least = reader.varInt("least row")
    reader.varInt("span of rows") { "to \(least &+ $0)" }
    reader.flags("kinds of change", ["insert", "update", "delete"])
    _ = bitVector(&reader)
    reader.depth -= 1
    return number
  }

  private func columns(_ reader: inout FieldReader, _ entities: [EntityNumber]) {
    let names = [
      "timestamps", "authors", "contexts", "openings", "counts of changes", "details",
      "order of entities",
    ]
    for name in names { section(&reader, name, of: name == "details" ? .records : .integers) }
    for entity in entities {
      let text = vocabulary.entityText(entity)
      let shapes = section(&reader, "shapes of \(text)", of: .records)
      section(&reader, "shape of each change of \(text)", of: .integers)
      section(&reader, "rows of \(text)", of: .integers)
      for (property, side) in sides(of: shapes ?? []) {
        section(
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
      reader.list("shapes") { reader in
        let kind = reader.byte("kind")
        let properties = bitVector(&reader)
        if kind != ChangeKind.insert.rawValue { before.formUnion(properties) }
        if kind != ChangeKind.delete.rawValue { after.formUnion(properties) }
      }
    }
    return before.union(after).sorted().flatMap { property in
      [(before, "before"), (after, "after")].filter { $0.0.contains(property) }
        .map { (property, $0.1) }
    }
  }
}
