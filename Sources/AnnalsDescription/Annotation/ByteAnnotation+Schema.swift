import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Definitions of entities: FORMAT.md, "Schema".

extension ByteAnnotation {
  func schema(_ reader: inout FieldReader) throws(DecodeFault) {
    try list(&reader, "count of entities") { reader throws(DecodeFault) in
      try entity(&reader)
    }
  }

  private func entity(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number of the entity")
    let flags = try reader.byte("flags") {
      flagText($0, ["removed", "has a display name", "has extensions", "partial"])
    }
    try reader.string("name")
    if flags & 2 != 0 { try reader.string("display name") }
    try reader.varInt("next property number")
    try list(&reader, "count of attributes") { reader throws(DecodeFault) in
      try attribute(&reader)
    }
    try list(&reader, "count of relationships") { reader throws(DecodeFault) in
      try reader.varInt("number")
      try reader.string("name")
      let flags = try reader.byte("flags") {
        flagText($0, ["to many", "ordered", "removed", "has extensions"])
      }
      try reader.varInt("destination") { "entity \($0)" }
      if flags & 8 != 0 { try extensions(&reader, ["every object has one"]) }
    }
    try list(&reader, "count of indexes") { reader throws(DecodeFault) in
      try reader.sized("length of the index") { reader throws(DecodeFault) in
        try index(&reader)
      }
    }
    if flags & 8 != 0 {
      try list(&reader, "count of dropped indexes") { reader throws(DecodeFault) in
        try reader.varInt("number")
      }
    }
    if flags & 4 != 0 { try extensions(&reader, ["the edits that were made"]) }
  }

  private func index(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number")
    try reader.string("name")
    let flags = try reader.byte("flags") {
      let kinds = IndexKind.allCases.compactMap(\.word)
      return flagText($0, ["unique", "has extensions", "partial"] + kinds)
    }
    let collation = try reader.byte("collation")
    guard flags & ~(7 | IndexKind.flags) == 0, collation == 0 else { return }
    var isKnown = true
    try list(&reader, "count of elements") { reader throws(DecodeFault) in
      try reader.varInt("property")
      let flags = try reader.byte("flags") { flagText($0, ["descending", "null as greatest"]) }
      isKnown = isKnown && flags < 4
    }
    if flags & 4 != 0, isKnown {
      try list(&reader, "count of tests") { reader throws(DecodeFault) in
        guard isKnown else { return }
        try reader.varInt("attribute")
        let comparison = try reader.byte("comparison") { code in
          let all = Condition.Comparison.allCases
          return 1...all.count ~= Int(code) ? "\(code) \(all[Int(code) - 1])" : "\(code)"
        }
        isKnown = 1...6 ~= comparison
        if isKnown { try value(&reader, "value") }
      }
    }
    if flags & 2 != 0, isKnown { try extensions(&reader, []) }
  }

  private func attribute(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number")
    try reader.string("name")
    try reader.byte("type") { raw in
      AttributeType(rawValue: raw).map { "\(raw) \($0)" } ?? "\(raw), an unknown type"
    }
    let flags = try reader.byte("flags") {
      flagText(
        $0,
        [
          "optional", "unique", "preserved after deletion", "removed", "has a default",
          "has a validation", "has extensions",
        ])
    }
    if flags & 16 != 0 { try value(&reader, "default") }
    if flags & 32 != 0 {
      try reader.sized("length of the validation") { reader throws(DecodeFault) in
        try validation(&reader)
      }
    }
    if flags & 64 != 0 { try extensions(&reader, []) }
  }

  private func validation(_ reader: inout FieldReader) throws(DecodeFault) {
    let flags = try reader.byte("rules") {
      flagText($0, ["minimum", "maximum", "minimum length", "maximum length", "one of"])
    }
    if flags & 1 != 0 { try value(&reader, "minimum") }
    if flags & 2 != 0 { try value(&reader, "maximum") }
    if flags & 4 != 0 { try reader.zigzag("minimum length") }
    if flags & 8 != 0 { try reader.zigzag("maximum length") }
    if flags & 16 != 0 {
      try list(&reader, "count of values") { reader throws(DecodeFault) in
        try value(&reader, "value")
      }
    }
  }

  /// The names of the flags that are set.
  func flagText(_ flags: UInt8, _ names: [String]) -> String {
    var parts = names.indices.filter { flags & 1 << UInt8($0) != 0 }.map { names[$0] }
    if Int(flags) >> names.count != 0 { parts.append("unknown flags") }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}
