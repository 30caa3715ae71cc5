import AnnalsFormat
import AnnalsModel

// Definitions of entities: FORMAT.md, "Schema".

extension ByteAnnotation {
  func schema(_ reader: inout FieldReader) { reader.list("count of entities", entity) }

  private func entity(_ reader: inout FieldReader) {
    reader.varInt("number of the entity")
    let flags = reader.flags(
      "flags", ["removed", "has a display name", "has extensions", "partial"])
    reader.string("name")
    if flags & 2 != 0 { reader.string("display name") }
    reader.varInt("next property number")
    reader.list("count of attributes", attribute)
    reader.list("count of relationships", relationship)
    reader.list("count of indexes") { $0.sized("length of the index", index) }
    if flags & 8 != 0 { reader.list("count of dropped indexes") { $0.varInt("number") } }
    if flags & 4 != 0 { reader.extensions(["the edits that were made"]) }
  }

  private func relationship(_ reader: inout FieldReader) {
    reader.varInt("number")
    reader.string("name")
    let flags = reader.flags("flags", ["to many", "ordered", "removed", "has extensions"])
    reader.varInt("destination") { "entity \($0)" }
    if flags & 8 != 0 { reader.extensions(DefinitionItems.meanings(of: Relationship.self)) }
  }

  private func index(_ reader: inout FieldReader) {
    reader.varInt("number")
    reader.string("name")
    let kinds = IndexKind.defined.compactMap(\.word)
    let flags = reader.flags("flags", ["unique", "has extensions", "partial"] + kinds)
    let collation = reader.byte("collation")
    guard flags & ~(7 | IndexKind.flags) == 0, collation == 0 else { return }
    var isKnown = true
    reader.list("count of elements") { reader in
      reader.varInt("property")
      let flags = reader.flags("flags", ["descending", "null as greatest"])
      isKnown = isKnown && flags < 4
    }
    if flags & 4 != 0, isKnown {
      reader.list("count of tests") { reader in
        guard isKnown else { return }
        reader.varInt("attribute")
        let comparison = reader.byte("comparison") { code in
          let all = Condition.Comparison.allCases
          return 1...all.count ~= Int(code) ? "\(code) \(all[Int(code) - 1])" : "\(code)"
        }
        isKnown = 1...6 ~= comparison
        if isKnown { value(&reader, "value") }
      }
    }
    if flags & 2 != 0, isKnown { reader.extensions() }
  }

  private func attribute(_ reader: inout FieldReader) {
    reader.varInt("number")
    reader.string("name")
    reader.byte("type") { raw in
      AttributeType(rawValue: raw).map { "\(raw) \($0)" } ?? "\(raw), an unknown type"
    }
    let flags = reader.flags(
      "flags",
      [
        "optional", "unique", "preserved after deletion", "removed", "has a default",
        "has a validation", "has extensions",
      ])
    if flags & 16 != 0 { value(&reader, "default") }
    if flags & 32 != 0 { reader.sized("length of the validation", validation) }
    if flags & 64 != 0 { reader.extensions(ExtensionArea.attributeItems) }
  }

  private func validation(_ reader: inout FieldReader) {
    let flags = reader.flags(
      "rules", ["minimum", "maximum", "minimum length", "maximum length", "one of"])
    if flags & 1 != 0 { value(&reader, "minimum") }
    if flags & 2 != 0 { value(&reader, "maximum") }
    if flags & 4 != 0 { reader.zigzag("minimum length") }
    if flags & 8 != 0 { reader.zigzag("maximum length") }
    if flags & 16 != 0 { reader.list("count of values") { value(&$0, "value") } }
  }
}
