import AnnalsFormat
import AnnalsModel

/// Reads the bytes of large values (over 4 KiB).
package protocol LargeValueSource: Sendable {
  /// The bytes of the value, checked against its length and checksum.
  ///
  /// Throws `.damaged` with the offset if the check fails, `.lost` if they were lost before the
  /// store was salvaged, `.io` if they cannot be read.
  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8>

  /// Calls `body` with each piece of the value, in order. A piece is checked before the call, the
  /// whole after the last. Memory: one piece, at most 1 MiB where the value is in a file.
  ///
  /// Throws as `bytes(of:)`, `.lost` before the first call, and what `body` throws, wrapped.
  func withPieces(
    of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(AnnalsError)

  /// Whether it is that of a pending state, which may break rules until it is saved.
  var isPending: Bool { get }
}

extension LargeValueSource {
  package var isPending: Bool { false }

  package func withPieces(
    of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws(AnnalsError) {
    let bytes = try bytes(of: value)
    do { try bytes.withUnsafeBytes(body) } catch { throw AnnalsError.translated(error) }
  }

  /// As `withPieces(of:_:)`, but throws what `body` throws as it is, and returns false if the bytes
  /// were lost before the store was salvaged.
  package func forEachPiece(
    of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    var failure: (any Error)?
    do throws(AnnalsError) {
      try withPieces(of: value) { piece in
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
}

extension LargeValueSink {
  /// The large value for these bytes: one of those that the property has or had, if its bytes are
  /// the same, or a new one. So setting a value to what it was is no change.
  package func value(
    of bytes: ContiguousArray<UInt8>, tag: ValueTag, reusing known: [Value]
  ) throws(AnnalsError) -> LargeValue {
    let checksum = bytes.withUnsafeBytes { Checksum.crc32($0) }
    for case .large(let stored) in known
    where stored.tag == tag && stored.length == UInt64(bytes.count) && stored.checksum == checksum {
      if try bytesLeft(of: stored) == bytes { return stored }
    }
    return try add(bytes, tag: tag)
  }
}
