import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Chunks: FORMAT.md, "Chunks of state" and "Index chunks".

extension ByteAnnotation {
  /// A chunk, whose payload is `payload`.
  func chunk(
    _ reader: inout FieldReader, _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) {
    switch ChunkGuess(payload) {
    case nil: reader.rest("contents of the chunk", "of no known kind")
    case .table(let name, _): try tableChunk(&reader, name)
    case .state(let header): try stateChunk(&reader, header)
    case .projection:
      try reader.byte("contents") { "\($0) the state of a projection" }
      try reader.string("name")
      try reader.varInt("version")
      try reader.varInt("transaction")
      try section(&reader, "the program's own bytes", of: .records)
    }
  }

  private func tableChunk(_ reader: inout FieldReader, _ name: String) throws(DecodeFault) {
    try list(&reader, "count of \(name)") { reader throws(DecodeFault) in
      switch name {
      case "names": try reader.string("name")
      case "openings": try opening(&reader)
      case "large values": try largeValueEntry(&reader)
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
    case .uniqueIndex, .orderedIndex: try reader.varInt("rule")
    case .references:
      try reader.varInt("property") { number in
        number == 0 ? "of rows" : vocabulary.propertyText(header.property, of: header.entity)
      }
    }
    if !header.content.isIndex { try reader.varInt("first row") }
    try reader.varInt("count")
    switch header.content {
    case .rows: try presence(&reader)
    case .column: try column(&reader)
    case .uniqueIndex, .orderedIndex:
      try reader.byte("collation")
      try section(&reader, "bytes shared with the key before", of: .integers)
      try section(&reader, "bytes that follow", of: .integers)
      try section(&reader, "what follows of each key", of: .records)
      try section(&reader, "rows", of: .integers)
    case .references:
      while reader.remaining > 0 { try chunkReference(&reader) }
    }
  }

  private func column(_ reader: inout FieldReader) throws(DecodeFault) {
    let raw = try reader.byte("kind of values") { raw in
      ColumnKind(rawValue: raw).map { "\(raw) \($0)" } ?? "\(raw), an unknown kind"
    }
    try presence(&reader)
    switch ColumnKind(rawValue: raw) {
    case .bool, .int, .date: try section(&reader, "values", of: .integers)
    case .object:
      try reader.varInt("target entity") {
        vocabulary.entityText(EntityNumber(truncatingIfNeeded: $0))
      }
      try section(&reader, "rows of the targets", of: .integers)
    case .double:
      let form = try reader.byte("form") { $0 == 0 ? "as they are" : "by the place of their bytes" }
      for place in 0..<(form == 0 ? 1 : 8) {
        try section(
          &reader, form == 0 ? "values" : "byte \(7 - place) of each value", of: .records)
      }
    case .uuid: try section(&reader, "values", of: .records)
    case .string, .url, .data, .json, .objects, .any:
      try bytesColumn(&reader, isAny: raw == ColumnKind.any.rawValue)
    case nil: throw reader.reader.invalid("an unknown kind of values")
    }
  }

  private func bytesColumn(_ reader: inout FieldReader, isAny: Bool) throws(DecodeFault) {
    if isAny { try section(&reader, "kind of each value", of: .records) }
    if try reader.byte("whether there are large values", text: { $0 == 0 ? "no" : "yes" }) != 0 {
      try section(&reader, "which values are large", of: .records)
    }
    try section(&reader, "bytes of the values", of: .byteStrings)
  }

  /// The rows of a chunk.
  private func presence(_ reader: inout FieldReader) throws(DecodeFault) {
    let form = try reader.byte("form of the rows") { form in
      ["consecutive", "a bit each", "a list"].indices.contains(Int(form))
        ? ["consecutive", "a bit each", "a list"][Int(form)] : "unknown"
    }
    if form == 1 { try section(&reader, "which rows", of: .records) }
    if form == 2 { try section(&reader, "offsets of the rows", of: .integers) }
  }
}
