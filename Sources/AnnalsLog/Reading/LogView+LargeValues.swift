import AnnalsFormat
import AnnalsModel

// The bytes of large values.

extension LogView {
  /// The bytes of a large value, checked. Memory: the value. Throws `largeValueMissing` if the file
  /// does not hold it, `damage` if its bytes have changed.
  package func bytes(of value: LargeValue) throws(LogError) -> ContiguousArray<UInt8> {
    var result: ContiguousArray<UInt8> = []
    try withPieces(of: value) { piece in
      result.append(contentsOf: piece)
    }
    return result
  }

  /// Calls `body` with each piece of the value in order, at most 1 MiB each. Checks each piece
  /// before the call, and the whole value after the last. Memory: one piece, as it is stored and,
  /// if it is deflated, inflated.
  package func withPieces(
    of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(LogError) {
    let place = try tables.largeValues.partitioningIndex(in: file) { $0.number >= value.number }
    guard place < tables.largeValues.count else { throw .largeValueMissing(value.number) }
    let entry = try tables.largeValues.entry(at: place, in: file)
    guard entry.number == value.number, entry.length == value.length else {
      throw .largeValueMissing(value.number)
    }
    try file.withPieces(of: value, at: entry.offset, body)
  }
}

extension LogGeneration {
  /// Calls `body` with each piece of the large value whose first frame is at `offset`.
  func withPieces(
    of value: LargeValue, at offset: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(LogError) {
    var offset = offset
    var pieces = LargeValueAssembly(value)
    var isLast = false
    while !isLast {
      let (header, payload) = try payload(at: offset, kind: .largeValue)
      let isEmpty = try payload.withBytes { bytes throws(LogError) -> Bool in
        let part: LargeValuePiece
        do throws(DecodeFault) {
          part = try LargeValueCodec.decode(bytes)
        } catch {
          throw .decode(error, at: offset)
        }
        guard !part.isLost else { throw .largeValueLost(value.number) }
        guard pieces.add(part) else {
          throw .damage(at: offset, "the piece of another large value")
        }
        try wrapping { try part.withBytes(body) }
        return part.count == 0
      }
      isLast = !header.flags.contains(.continued)
      guard isLast || !isEmpty else { throw .damage(at: offset, "an empty piece of a large value") }
      offset += header.frameLength
    }
    guard pieces.isWhole, pieces.checksum == value.checksum else {
      throw .damage(at: offset, "a large value is not what was stored")
    }
  }
}
