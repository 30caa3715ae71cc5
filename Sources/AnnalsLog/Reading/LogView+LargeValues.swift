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
  /// before the call, and the whole value after the last.
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
    var done: UInt64 = 0
    var checksum: UInt32 = 0
    var isLast = false
    while !isLast {
      let (header, payload) = try payload(at: offset, kind: .largeValue)
      let count = try payload.withBytes { bytes throws(LogError) -> UInt64 in
        let part: LargeValuePiece
        do throws(DecodeFault) {
          part = try LargeValueCodec.decode(bytes)
        } catch {
          throw .decode(error, at: offset)
        }
        guard !part.isLost else { throw .largeValueLost(value.number) }
        guard part.number == value.number, part.totalLength == value.length, part.start == done
        else {
          throw .damage(LogDamage(offset: offset, reason: "the piece of another large value"))
        }
        checksum = Checksum.crc32(part.bytes, startingFrom: checksum)
        try calling { try body(part.bytes) }
        return UInt64(part.bytes.count)
      }
      done += count
      isLast = !header.flags.contains(.continued)
      guard isLast || count > 0 else {
        throw .damage(LogDamage(offset: offset, reason: "an empty piece of a large value"))
      }
      offset += header.frameLength
    }
    guard done == value.length, checksum == value.checksum else {
      throw .damage(LogDamage(offset: offset, reason: "a large value is not what was stored"))
    }
  }
}
