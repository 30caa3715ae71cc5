import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Chunks: FORMAT.md, "Chunks of state" and "Index chunks".

extension ByteAnnotation {
  /// The payload of a chunk.
  func chunk(_ reader: inout FieldReader) {
    switch reader.peek(reader.remaining).flatMap(ChunkGuess.init) {
    case nil: reader.end("contents of the chunk", "of no known kind")
    case .table(let name, _): tableChunk(&reader, name)
    case .state(let header): stateChunk(&reader, header)
    case .projection:
      reader.byte("contents") { "\($0) the state of a projection" }
      reader.string("name")
      reader.varInt("version")
      reader.varInt("transaction")
      section(&reader, "the program's own bytes", of: .records)
    }
  }

  private func tableChunk(_ reader: inout FieldReader, _ name: String) {
    reader.list("count of \(name)") { reader in
      switch name {
      case "names": reader.string("name")
      case "openings": opening(&reader)
      case "large values": largeValueEntry(&reader)
      case "schema changes": schemaEntry(&reader)
      case "lists of the objects of segments":
        reader.sizedBytes("length of the list", "objects of a segment")
      default: historyEntry(&reader)
      }
    }
  }

  private func stateChunk(_ reader: inout FieldReader, _ header: ChunkHeader) {
    reader.byte("contents") { "\($0) \(header.content)" }
    entityNumber(&reader)
    switch header.content {
    case .rows: break
    case .column: propertyNumber(&reader, of: header.entity)
    case .uniqueIndex, .orderedIndex: reader.varInt("rule")
    case .references:
      reader.varInt("property") { number in
        number == 0 ? "of rows" : vocabulary.propertyText(header.property, of: header.entity)
      }
    }
    if !header.content.isIndex { reader.varInt("first row") }
    reader.varInt("count")
    switch header.content {
    case .rows: presence(&reader)
    case .column: column(&reader)
    case .uniqueIndex, .orderedIndex:
      reader.byte("collation")
      section(&reader, "bytes shared with the key before", of: .integers)
      section(&reader, "bytes that follow", of: .integers)
      section(&reader, "what follows of each key", of: .records)
      section(&reader, "rows", of: .integers)
    case .references:
      while reader.remaining > 0 { chunkReference(&reader) }
    }
  }

  private func column(_ reader: inout FieldReader) {
    let raw = reader.byte("kind of values") { raw in
      ColumnKind(rawValue: raw).map { "\(raw) \($0)" } ?? "\(raw), an unknown kind"
    }
    presence(&reader)
    switch ColumnKind(rawValue: raw) {
    case .bool, .int, .date, .day: section(&reader, "values", of: .integers)
    case .object:
      entityNumber(&reader, "target entity")
      section(&reader, "rows of the targets", of: .integers)
    case .double:
      let form = reader.byte("form") { $0 == 0 ? "as they are" : "by the place of their bytes" }
      for place in 0..<(form == 0 ? 1 : 8) {
        section(
          &reader, form == 0 ? "values" : "byte \(7 - place) of each value", of: .records)
      }
    case .uuid: section(&reader, "values", of: .records)
    case .string, .url, .data, .json, .objects, .any, .decimal:
      if raw == ColumnKind.any.rawValue { section(&reader, "kind of each value", of: .records) }
      if reader.byte("whether there are large values", text: { $0 == 0 ? "no" : "yes" }) != 0 {
        section(&reader, "which values are large", of: .records)
      }
      section(&reader, "bytes of the values", of: .byteStrings)
    case nil: reader.fail(.invalid(at: reader.offset, reason: "an unknown kind of values"))
    }
  }

  /// The rows of a chunk.
  private func presence(_ reader: inout FieldReader) {
    let form = reader.byte("form of the rows") { form in
      let forms = ["consecutive", "a bit each", "a list"]
      return form < forms.count ? forms[Int(form)] : "unknown"
    }
    if form == 1 { section(&reader, "which rows", of: .records) }
    if form == 2 { section(&reader, "offsets of the rows", of: .integers) }
  }
}
