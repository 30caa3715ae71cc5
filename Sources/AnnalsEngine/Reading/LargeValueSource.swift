import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// Reads the bytes of large values (over 4 KiB).
package protocol LargeValueSource: Sendable {
  /// The bytes of the value, checked against its length and checksum.
  ///
  /// Throws `.damaged` with the offset if the check fails, `.lost` if they were lost before the
  /// store was salvaged, `.io` if they cannot be read.
  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8>

  /// A cursor before the first piece of the value; nil if its bytes are in memory.
  func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor?

  /// Whether it is that of a pending state, which may break rules until it is saved.
  var isPending: Bool { get }
}

extension LargeValueSource {
  package var isPending: Bool { false }

  package func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor? { nil }

  /// Calls `body` with each piece of the value, or of a range that it has, in order. A piece is
  /// checked before the call, the whole after the last if the range is the whole; pieces without
  /// bytes of the range are not read. Memory: one piece, at most 1 MiB where the value is in a
  /// file.
  ///
  /// Throws as `bytes(of:)`, `.lost` before the first call, and what `body` throws, wrapped.
  package func withPieces(
    of value: LargeValue, in range: Range<UInt64>? = nil,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(AnnalsError) {
    let range = range ?? 0..<value.length
    if var cursor = try cursor(of: value) {
      return try AnnalsError.translating { try cursor.forEachPiece(in: range, body) }
    }
    let bytes = try bytes(of: value)
    try AnnalsError.translating {
      try bytes.withUnsafeBytes { bytes in
        let part = bytes[Int(range.lowerBound)..<Int(range.upperBound)]
        try body(UnsafeRawBufferPointer(rebasing: part))
      }
    }
  }

  /// As `withPieces(of:in:_:)`, but throws what `body` throws as it is, and returns false if the
  /// bytes were lost before the store was salvaged.
  package func forEachPiece(
    of value: LargeValue, in range: Range<UInt64>? = nil,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    var failure: (any Error)?
    do throws(AnnalsError) {
      try withPieces(of: value, in: range) { piece in
        do {
          try body(piece)
        } catch {
          failure = error
          throw error
        }
      }
      return true
    } catch {
      if let failure { throw failure }
      guard error.code == .lost else { throw error }
      return false
    }
  }

  /// The bytes of the value; nil if they were lost before the store was salvaged.
  package func bytesLeft(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8>? {
    do throws(AnnalsError) {
      return try bytes(of: value)
    } catch {
      guard error.code == .lost else { throw error }
      return nil
    }
  }

  /// The value, with its bytes if it is large; nil if they were lost.
  package func complete(_ value: Value) throws(AnnalsError) -> Value? {
    guard case .large(let reference) = value else { return value }
    return try bytesLeft(of: reference).map { Value(bytes: $0, tag: reference.tag) }
  }
}

/// Also stores the bytes of new large values, before the record that names them is written.
package protocol LargeValueSink: LargeValueSource {
  /// Stores the bytes of a new large value.
  func add(_ bytes: ContiguousArray<UInt8>, tag: ValueTag) throws(AnnalsError) -> LargeValue

  /// Stores a large value of `length` bytes, which `next` hands out in pieces of the count that it
  /// is asked for; or returns one of those that the property has or had, if its bytes are the same.
  ///
  /// Throws what `next` throws; then nothing of the value is left.
  func add(
    length: UInt64, tag: ValueTag, reusing known: [Value],
    _ next: (Int) throws -> UnsafeRawBufferPointer
  ) throws -> LargeValue

  /// A file for bytes whose count is not known before the last; nil if they are held in memory.
  func makeSpool() throws(AnnalsError) -> SpoolFile?
}

extension LargeValueSink {
  /// Gathers the bytes in memory.
  package func add(
    length: UInt64, tag: ValueTag, reusing known: [Value],
    _ next: (Int) throws -> UnsafeRawBufferPointer
  ) throws -> LargeValue {
    var bytes: ContiguousArray<UInt8> = []
    while UInt64(bytes.count) < length {
      let left = length - UInt64(bytes.count)
      bytes.append(contentsOf: try next(Int(min(left, UInt64(FormatLimits.largeValuePieceLength)))))
    }
    let stored = try bytes.withBytes { bytes throws(AnnalsError) in
      try self.stored(bytes, tag, among: known)
    }
    return try stored ?? add(bytes, tag: tag)
  }

  package func makeSpool() throws(AnnalsError) -> SpoolFile? { nil }

  /// The large value for these bytes: one of those that the property has or had, if its bytes are
  /// the same, or a new one. So setting a value to what it was is no change.
  package func value(
    of bytes: UnsafeRawBufferPointer, tag: ValueTag, reusing known: [Value]
  ) throws(AnnalsError) -> LargeValue {
    if let stored = try stored(bytes, tag, among: known) { return stored }
    var done = 0
    return try AnnalsError.translating {
      try add(length: UInt64(bytes.count), tag: tag, reusing: []) { count in
        defer { done += count }
        return UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
      }
    }
  }

  /// The known value with these bytes; nil if none has them.
  private func stored(
    _ bytes: UnsafeRawBufferPointer, _ tag: ValueTag, among known: [Value]
  ) throws(AnnalsError) -> LargeValue? {
    if known.isEmpty { return nil }
    let checksum = Checksum.crc32(bytes)
    for case .large(let stored) in known
    where stored.tag == tag && stored.length == UInt64(bytes.count) && stored.checksum == checksum {
      if try holds(bytes, stored) { return stored }
    }
    return nil
  }

  /// Whether a stored value has these bytes, of which it has as many; false if it was lost.
  private func holds(
    _ bytes: UnsafeRawBufferPointer, _ value: LargeValue
  ) throws(AnnalsError) -> Bool {
    var done = 0
    var isSame = true
    do throws(AnnalsError) {
      try withPieces(of: value) { piece in
        let part = UnsafeRawBufferPointer(rebasing: bytes[done..<done + piece.count])
        isSame = isSame && part.hasSameBytes(as: piece)
        done += piece.count
      }
      return isSame
    } catch {
      guard error.code == .lost else { throw error }
      return false
    }
  }
}
