import AnnalsFormat
import AnnalsFrames
import AnnalsModel

// The bytes of large values.

extension LogView {
  /// The bytes of a large value, checked. Memory: the value. Throws `largeValueMissing` if the file
  /// does not hold it, `damage` if its bytes have changed.
  package func bytes(of value: LargeValue) throws(LogError) -> ContiguousArray<UInt8> {
    var cursor = try cursor(of: value)
    return try cursor.bytes()
  }

  /// Calls `body` with each piece of the value in order, at most 1 MiB each. Checks each piece
  /// before the call, and the whole value after the last. Memory: one piece, as it is stored and,
  /// if it is deflated, inflated.
  package func withPieces(
    of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(LogError) {
    var cursor = try cursor(of: value)
    while !cursor.isAtEnd { try cursor.withNext(body) }
  }

  /// A cursor before the first piece of the value. Throws `largeValueMissing` if the file does not
  /// hold it.
  package func cursor(of value: LargeValue) throws(LogError) -> LargeValueCursor {
    let entry = try tables.largeValue(value.number, in: file)
    guard let entry, entry.length == value.length else { throw .largeValueMissing(value.number) }
    return LargeValueCursor(value, at: entry.offset, in: file, tables)
  }
}

extension LogTables {
  /// The entry of the large value with this number; nil if the file does not hold it. O(log n).
  func largeValue(
    _ number: UInt64, in file: LogGeneration
  ) throws(LogError) -> LargeValueEntry? {
    let place = try largeValues.partitioningIndex(in: file) { $0.number >= number }
    guard place < largeValues.count else { return nil }
    let entry = try largeValues.entry(at: place, in: file)
    return entry.number == number ? entry : nil
  }
}

extension LogGeneration {
  /// The piece of a large value in a payload, its bytes made from those of its base if it has one.
  /// Valid as long as the payload.
  func piece(
    _ payload: UnsafeRawBufferPointer, at offset: UInt64, _ tables: LogTables
  ) throws(LogError) -> LargeValuePiece {
    try made(try storedPiece(payload, at: offset), at: offset, tables)
  }

  /// The piece of a large value in a payload, as it is stored. Valid as long as the payload.
  func storedPiece(
    _ payload: UnsafeRawBufferPointer, at offset: UInt64
  ) throws(LogError) -> LargeValuePiece {
    try decoding(at: offset) { () throws(DecodeFault) in try LargeValueCodec.decode(payload) }
  }

  /// A stored piece with its bytes made, if it has a base.
  func made(
    _ stored: LargeValuePiece, at offset: UInt64, _ tables: LogTables
  ) throws(LogError) -> LargeValuePiece {
    if stored.base == nil { return stored }
    var chain = LargeValueChain(stored)
    while let base = chain.missing {
      guard let entry = try tables.largeValue(base, in: self) else {
        throw .damage(at: offset, "a large value whose base is not there")
      }
      let frame = try frame(at: entry.offset, kind: .largeValue)
      try frame.payload.decoded(at: entry.offset) { bytes throws(DecodeFault) in
        try chain.add(bytes)
      }
    }
    return try decoding(at: offset) { () throws(DecodeFault) in try chain.made() }
  }
}
