import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Directories: FORMAT.md, "Checkpoints".

extension ByteAnnotation {
  func directory(_ reader: inout FieldReader) {
    reader.varInt("number") { "the state as of transaction \($0)" }
    let flags = reader.flags("flags", ["the base", "gaps"])
    reader.time("timestamp")
    reader.time("greatest timestamp")
    reader.id("id of the opening")
    reader.varInt("count of changes since the base")
    schema(&reader)
    table(&reader, "names") { $0.string("name") }
    table(&reader, "openings", opening)
    reader.varInt("number for the next large value")
    table(&reader, "large values", largeValueEntry)
    table(&reader, "schema changes", schemaEntry)
    table(&reader, "entries of the history index", historyEntry)
    if flags & 2 != 0 {
      reader.list("count of gaps") { reader in
        reader.varInt("last lost transaction")
        reader.time("timestamp before")
        gap(&reader)
        reader.varInt("count of openings")
      }
    }
    reader.list("count of entities", entityState)
    reader.extensions(ExtensionArea.directoryItems)
  }

  /// The payload of a tombstones frame.
  func tombstones(_ reader: inout FieldReader) {
    while reader.remaining > 0 {
      reader.varInt("length of the record")
      record(&reader)
    }
  }

  func largeValueEntry(_ reader: inout FieldReader) {
    for name in ["number", "offset", "length"] { reader.varInt(name) }
  }

  func schemaEntry(_ reader: inout FieldReader) {
    reader.varInt("transaction")
    schema(&reader)
  }

  func historyEntry(_ reader: inout FieldReader) {
    reader.varInt("first transaction")
    reader.varInt("offset")
    reader.time("greatest timestamp before")
    reader.list("count of entities") { $0.varInt("entity") }
  }

  private func table(
    _ reader: inout FieldReader, _ name: String, _ entry: (inout FieldReader) -> Void
  ) {
    reader.list("count of chunks of \(name)", chunkReference)
    reader.list("count of \(name)", entry)
  }

  func chunkReference(_ reader: inout FieldReader) {
    reader.varInt("offset of the chunk")
    reader.varInt("length of its payload")
    reader.fixed("crc32 of its payload", UInt32.self, text: Hex.text)
    reader.varInt("first row or entry")
    reader.varInt("count of rows or entries")
  }

  private func entityState(_ reader: inout FieldReader) {
    let number = entityNumber(&reader)
    reader.varInt("next row")
    reader.varInt("count of objects")
    reader.list("count of lists of rows", chunkReference)
    reader.list("count of chunks of rows", chunkReference)
    reader.list("count of columns") { reader in
      propertyNumber(&reader, of: number)
      reader.list("count of lists of the column", chunkReference)
      reader.list("count of chunks of the column", chunkReference)
    }
    reader.list("count of indexes") { reader in
      reader.varInt("rule")
      reader.varInt("count of entries")
      reader.list("count of chunks of the index") { reader in
        chunkReference(&reader)
        reader.sizedBytes("length of the lowest key", "lowest key")
      }
    }
  }
}
