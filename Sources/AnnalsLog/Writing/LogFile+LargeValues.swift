import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Appending large values to the open transaction, before its first part.

/// A large value whose pieces are being appended.
package struct UnfinishedLargeValue {
  let number: UInt64
  /// The number of bytes that it will have.
  package let length: UInt64
  /// How many were appended.
  package fileprivate(set) var done: UInt64 = 0
  fileprivate var checksum: UInt32 = 0
  /// What to roll back to if it is given up.
  fileprivate let standing: LogState.Standing

  /// The number of bytes of the next piece.
  package var nextCount: Int { Int(min(length - done, UInt64(FormatLimits.largeValuePieceLength))) }

  /// The reference to the value, whose last piece was appended.
  package func finished(as tag: ValueTag) -> LargeValue {
    precondition(done == length, "a large value has all of its bytes")
    return LargeValue(tag: tag, number: number, length: length, checksum: checksum)
  }
}

extension LogFile {
  /// Appends a large value to the transaction. Writes it in pieces of 1 MiB, without a copy in
  /// memory.
  ///
  /// Throws `storage` if there is no space: then nothing of the value is left, and the transaction
  /// may go on without it. Throws `outcomeUnknown` if a write failed.
  package func appendLargeValue(
    _ bytes: UnsafeRawBufferPointer, tag: ValueTag
  ) throws(LogError) -> LargeValue {
    var value = try beginLargeValue(length: UInt64(bytes.count))
    repeat {
      let start = Int(value.done)
      let piece = bytes[start..<start + value.nextCount]
      try append(UnsafeRawBufferPointer(rebasing: piece), to: &value)
    } while value.done < value.length
    return value.finished(as: tag)
  }

  /// Begins a large value of a known length, whose pieces are then appended. Nothing else can be
  /// appended before its last piece, unless it is given up.
  package func beginLargeValue(length: UInt64) throws(LogError) -> UnfinishedLargeValue {
    try withOpenState { (state) throws(LogError) in
      let standing = state.standing
      let number = state.beginLargeValue(length: length)
      return UnfinishedLargeValue(number: number, length: length, standing: standing)
    }
  }

  /// Appends the next piece, of `nextCount` bytes.
  ///
  /// Throws `storage` if there is no space: then the value is given up. Throws `outcomeUnknown` if
  /// a write failed.
  package func append(
    _ piece: UnsafeRawBufferPointer, to value: inout UnfinishedLargeValue
  ) throws(LogError) {
    precondition(piece.count == value.nextCount, "pieces are of one length, but for the last")
    let done = value.done + UInt64(piece.count)
    try withOpenState { (state) throws(LogError) in
      do throws(LogError) {
        try state.appendLargeValuePiece(
          LargeValuePiece(
            number: value.number, totalLength: value.length, start: value.done, bytes: piece),
          isLast: done == value.length)
      } catch {
        if case .storage = error { try state.rollBack(to: value.standing) }
        throw error
      }
    }
    value.checksum = Checksum.crc32(piece, startingFrom: value.checksum)
    value.done = done
  }

  /// Gives up the newest large value of the transaction, finished or not: nothing of it is left,
  /// and the transaction may go on without it. Throws `outcomeUnknown`, poisoned, if it cannot be
  /// removed.
  package func giveUp(_ value: UnfinishedLargeValue) throws(LogError) {
    try withOpenState { (state) throws(LogError) in
      precondition(
        state.transaction?.largeValues.last?.number == value.number, "the newest large value")
      try state.rollBack(to: value.standing)
    }
  }

  /// A file for the bytes of a large value whose length is not known yet, beside the store, with
  /// its mode and owner. It loses its name at once; one that a crash leaves the name is stamped,
  /// and removed by the next writer.
  package func makeSpool() throws(LogError) -> SpoolFile {
    var tries = 0
    while true {
      do throws(LogError) {
        let made = try TemporaryFile(
          for: LogFile.spoolPath(for: path, tries % LogFile.spoolNames), like: original,
          in: fileSystem)
        return try made.withoutName()
      } catch {
        // Somebody else is making one, and has the name for a moment.
        guard case .busy = error, tries < LogFile.mostSpoolTries else { throw error }
        tries += 1
      }
    }
  }

  /// A cursor before the first piece of a large value that the open transaction has appended.
  /// Throws `largeValueMissing` if it has not.
  package func pendingCursor(of value: LargeValue) throws(LogError) -> LargeValueCursor {
    try withOpenState { (state) throws(LogError) in
      try state.writeFrames()
      let entry = state.transaction?.largeValues.last { $0.number == value.number }
      guard let entry else { throw .largeValueMissing(value.number) }
      return LargeValueCursor(value, at: entry.offset, in: state.generation, state.tables)
    }
  }

  /// The bytes of a large value that the open transaction has appended.
  package func pendingBytes(of value: LargeValue) throws(LogError) -> ContiguousArray<UInt8> {
    var cursor = try pendingCursor(of: value)
    return try cursor.bytes()
  }
}
