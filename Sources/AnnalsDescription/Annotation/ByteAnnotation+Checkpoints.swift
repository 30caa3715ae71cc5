import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Directories: FORMAT.md, "Checkpoints".

extension ByteAnnotation {
  func directory(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number") { "the state as of transaction \($0)" }
    let flags = try reader.byte("flags") {
      flagText($0, ["the base", "gaps"])
    }
    try reader.zigzag("timestamp", text: ByteAnnotation.time)
    try reader.zigzag("greatest timestamp", text: ByteAnnotation.time)
    try reader.fixed("id of the opening", UInt64.self) { String($0, radix: 16) }
    try reader.varInt("count of changes since the base")
    try schema(&reader)
    try table(&reader, "names") { reader throws(DecodeFault) in try reader.string("name") }
    try table(&reader, "openings") { reader throws(DecodeFault) in try opening(&reader) }
    try reader.varInt("number for the next large value")
    try table(&reader, "large values") { reader throws(DecodeFault) in try largeValueEntry(&reader)
    }
    try table(&reader, "schema changes") { reader throws(DecodeFault) in
      try schemaEntry(&reader)
    }
    try table(&reader, "entries of the history index") { reader throws(DecodeFault) in
      try historyEntry(&reader)
    }
    if flags & 2 != 0 {
      try list(&reader, "count of gaps") { reader throws(DecodeFault) in
        try reader.varInt("last lost transaction")
        try reader.zigzag("timestamp before", text: ByteAnnotation.time)
        try gap(&reader)
        try reader.varInt("count of openings")
      }
    }
    try list(&reader, "count of entities") { reader throws(DecodeFault) in
      try entityState(&reader)
    }
    try extensions(&reader, ExtensionArea.directoryItems)
  }

  /// The payload of a tombstones frame.
  func tombstones(_ reader: inout FieldReader) throws(DecodeFault) {
    while reader.remaining > 0 {
      try reader.varInt("length of the record")
      try record(&reader)
    }
  }

  func largeValueEntry(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("number")
    try reader.varInt("offset")
    try reader.varInt("length")
  }

  func schemaEntry(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("transaction")
    try schema(&reader)
  }

  func historyEntry(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("first transaction")
    try reader.varInt("offset")
    try reader.zigzag("greatest timestamp before", text: ByteAnnotation.time)
    try list(&reader, "count of entities") { reader throws(DecodeFault) in
      try reader.varInt("entity")
    }
  }

  private func table(
    _ reader: inout FieldReader, _ name: String,
    _ entry: (inout FieldReader) throws(DecodeFault) -> Void
  ) throws(DecodeFault) {
    try chunks(&reader, "count of chunks of \(name)")
    try list(&reader, "count of \(name)", entry)
  }

  private func chunks(_ reader: inout FieldReader, _ name: String) throws(DecodeFault) {
    try list(&reader, name) { reader throws(DecodeFault) in try chunkReference(&reader) }
  }

  func chunkReference(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.varInt("offset of the chunk")
    try reader.varInt("length of its payload")
    try reader.fixed("crc32 of its payload", UInt32.self, text: Hex.text)
    try reader.varInt("first row or entry")
    try reader.varInt("count of rows or entries")
  }

  private func entityState(_ reader: inout FieldReader) throws(DecodeFault) {
    var number: EntityNumber = 0
    try reader.varInt("entity") { raw in
      number = EntityNumber(truncatingIfNeeded: raw)
      return vocabulary.entityText(number)
    }
    try reader.varInt("next row")
    try reader.varInt("count of objects")
    try chunks(&reader, "count of lists of rows")
    try chunks(&reader, "count of chunks of rows")
    try list(&reader, "count of columns") { reader throws(DecodeFault) in
      try reader.varInt("property") { raw in
        vocabulary.propertyText(PropertyNumber(truncatingIfNeeded: raw), of: number)
      }
      try chunks(&reader, "count of lists of the column")
      try chunks(&reader, "count of chunks of the column")
    }
    try list(&reader, "count of indexes") { reader throws(DecodeFault) in
      try reader.varInt("rule")
      try reader.varInt("count of entries")
      try list(&reader, "count of chunks of the index") { reader throws(DecodeFault) in
        try chunkReference(&reader)
        let length = try reader.varInt("length of the lowest key")
        try reader.opaque("lowest key", count: Int(clamping: length))
      }
    }
  }
}
