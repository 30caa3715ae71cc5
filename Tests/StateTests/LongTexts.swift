import AnnalsModel
import AnnalsState
import Testing

/// A group of objects with a number and a text so long that each leaf has a chunk of its own.
enum LongTexts {
  static let rows: Int64 = 4_096
  static let schema = Schema(entities: [SchemaTests.entity([.int64, .string])])

  static func text(_ row: Int64, length: Int = 600) -> String {
    "text \(row) " + String(repeating: "abcdefgh", count: length / 8)
  }

  /// The state as a checkpoint holds it, and its chunks, of which none was read.
  static func makeStored() throws -> (State, MemoryChunks) {
    var state = State(schema: schema)
    for row in 1...rows {
      #expect(try state.insertRow(1) == row)
      try state.set(1, row, 1, to: .int(row))
      try state.set(1, row, 2, to: .string(text(row)))
    }
    let chunks = MemoryChunks()
    let stored = try State(directory: try state.save(to: chunks), source: chunks)
    // The rows, the numbers, sixteen leaves of texts.
    #expect(chunks.chunkCount == 18)
    chunks.forgetReads()
    return (stored, chunks)
  }
}
