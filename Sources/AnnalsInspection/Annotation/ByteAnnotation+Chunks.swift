import AnnalsFormat
import AnnalsModel

// Chunks: FORMAT.md, "Chunks" and "Index chunks". Sections are explained by what stands before
// them.

extension ByteAnnotation {
  /// A chunk's payload, which is `payload`.
  func chunk(
    _ reader: inout FieldReader, _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) {
    switch ChunkGuess(payload) {
    case nil: reader.rest("contents of the chunk", "of no known kind")
    case .table(let name, _): try tableChunk(&reader, name)
    case .state(let header): try stateChunk(&reader, header)
    }
  }

  private func tableChunk(_ reader: inout FieldReader, _ name: String) throws(DecodeFault) {
    try list(&reader, "count of \(name)") { reader throws(DecodeFault) in
      switch name {
      case "names": try reader.string("name")
      case "openings": try opening(&reader)
      case "blobs": try blobEntry(&reader)
      case "schema changes": try schemaEntry(&reader)
      default: try historyEntry(&reader)
      }
    }
  }

  private func stateChunk(
    _ reader: inout FieldReader, _ header: ChunkHeader
  ) throws(DecodeFault) {
    try reader.byte("contents") { "\($0) \(header.content)" }
    try reader.varInt("entity") { _ in vocabulary.entityText(header.entity) }
    switch header.content {
    case .rows: break
    case .column:
      try reader.varInt("property") { _ in
        vocabulary.propertyText(header.property, of: header.entity)
      }
    case .index: try reader.varInt("rule")
    }
    if header.content != .index { try reader.varInt("first row") }
    try reader.varInt("count")
    switch header.content {
    case .rows: try presence(&reader, count: header.count)
    case .column: try column(&reader, count: header.count)
    case .index:
      try reader.byte("collation")
      try numbers(&reader, "bytes shared with the key before", count: header.count)
      try numbers(&reader, "bytes that follow", count: header.count)
      try section(&reader, "what follows of each key")
      try numbers(&reader, "rows", count: header.count)
    }
  }

  private func column(_ reader: inout FieldReader, count: Int) throws(DecodeFault) {
    let raw = try reader.byte("kind of values") { raw in
      ColumnKind(rawValue: raw).map { "\(raw) \($0)" } ?? "\(raw), an unknown kind"
    }
    try presence(&reader, count: count)
    switch ColumnKind(rawValue: raw) {
    case .bool, .int, .date: try numbers(&reader, "values", count: count)
    case .object:
      try reader.varInt("target entity") {
        vocabulary.entityText(EntityNumber(truncatingIfNeeded: $0))
      }
      try numbers(&reader, "rows of the targets", count: count)
    case .double:
      let form = try reader.byte("form") { $0 == 0 ? "as they are" : "by the place of their bytes" }
      for place in 0..<(form == 0 ? 1 : 8) {
        try section(&reader, form == 0 ? "values" : "byte \(7 - place) of each value")
      }
    case .uuid: try section(&reader, "values")
    case .string, .url, .data, .json, .objects, .any:
      try bytesColumn(&reader, isAny: raw == ColumnKind.any.rawValue, count: count)
    case nil: throw reader.reader.invalid("an unknown kind of values")
    }
  }

  private func bytesColumn(
    _ reader: inout FieldReader, isAny: Bool, count: Int
  ) throws(DecodeFault) {
    try numbers(&reader, "lengths", count: count)
    if isAny { try section(&reader, "kind of each value") }
    if try reader.byte("whether there are large values", text: { $0 == 0 ? "no" : "yes" }) != 0 {
      try section(&reader, "which values are large")
    }
    let isShared = try reader.byte("form") {
      $0 == 0 ? "as they are" : "without what each shares with the one before"
    }
    if isShared != 0 { try numbers(&reader, "bytes shared", count: count) }
    try section(&reader, "bytes of the values")
  }

  /// Which rows a chunk is about.
  private func presence(_ reader: inout FieldReader, count: Int) throws(DecodeFault) {
    let form = try reader.byte("form of the rows") { form in
      ["consecutive", "a bit each", "a list"].indices.contains(Int(form))
        ? ["consecutive", "a bit each", "a list"][Int(form)] : "unknown"
    }
    if form == 1 { try section(&reader, "which rows") }
    if form == 2 { try numbers(&reader, "offsets of the rows", count: count) }
  }

  /// A number list.
  private func numbers(
    _ reader: inout FieldReader, _ name: String, count: Int
  ) throws(DecodeFault) {
    guard count > 0 else { return }
    let form = try reader.byte("form of \(name)") { form in
      "\(form & 0x7F) bits each" + (form & 0x80 == 0 ? "" : ", differences")
    }
    reader.depth += 1
    defer { reader.depth -= 1 }
    try reader.zigzag("base")
    if form & 0x80 != 0 { try reader.zigzag("first") }
    if form & 0x7F != 0 { try section(&reader, name) }
  }

  /// A section, raw or deflated.
  private func section(_ reader: inout FieldReader, _ name: String) throws(DecodeFault) {
    let head = try reader.varInt("length of \(name)") { head in
      "\(head >> 1) bytes, " + (head & 1 == 1 ? "deflated" : "as they are")
    }
    if head & 1 == 0 {
      try reader.opaque(name, count: Int(clamping: head >> 1))
    } else {
      let stream = try reader.varInt("length of the deflate stream")
      try reader.opaque(name, "deflated", count: Int(clamping: stream))
    }
  }
}
