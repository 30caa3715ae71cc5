import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// The new large values of an open transaction, and those that the store already has.
///
/// New ones are written to the file at once, uncommitted, so that a transaction may hold more of
/// them than memory does. For the writer's thread only.
package final class PendingLargeValues: LargeValueSink, @unchecked Sendable {
  private let log: LogFile
  /// Reads those already stored; most transactions need none.
  private lazy var stored = LogLargeValues(log.view)
  private var added: Set<LargeValue> = []
  /// Whether the transaction has begun in the log, so that it must be committed or aborted.
  private(set) var hasBegun = false
  /// Whether a value is being written piece by piece.
  private var isWithinValue = false

  init(log: LogFile) {
    self.log = log
  }

  /// Begins the transaction in the log unless it has begun.
  func beginIfNeeded() throws(LogError) {
    guard !hasBegun else { return }
    try log.begin()
    hasBegun = true
  }

  /// Writes the bytes to the log as part of the transaction.
  package func add(_ bytes: ContiguousArray<UInt8>, tag: ValueTag) throws(AnnalsError) -> LargeValue
  {
    insist(!isWithinValue, "an input writes another large value while it is read")
    return try AnnalsError.translating {
      try beginIfNeeded()
      let value = try bytes.withUnsafeBytes { try log.appendLargeValue($0, tag: tag) }
      added.insert(value)
      return value
    }
  }

  /// Writes a value to the log, piece by piece, as part of the transaction.
  ///
  /// Throws as the other form does, and what `next` throws: then nothing of the value is left, and
  /// the transaction may go on without it.
  package func add(
    length: UInt64, tag: ValueTag, reusing known: [Value],
    _ next: (Int) throws -> UnsafeRawBufferPointer
  ) throws -> LargeValue {
    insist(!isWithinValue, "an input writes another large value while it is read")
    isWithinValue = true
    defer { isWithinValue = false }
    var unfinished = try AnnalsError.translating {
      try beginIfNeeded()
      return try log.beginLargeValue(length: length)
    }
    while unfinished.done < length {
      let piece: UnsafeRawBufferPointer
      do {
        piece = try next(unfinished.nextCount)
      } catch {
        try AnnalsError.translating { try log.giveUp(unfinished) }
        throw error
      }
      try AnnalsError.translating { try log.append(piece, to: &unfinished) }
    }
    return try AnnalsError.translating {
      let value = unfinished.finished(as: tag)
      if let same = try stored(value, among: known) {
        try log.giveUp(unfinished)
        return same
      }
      added.insert(value)
      return value
    }
  }

  /// The one of the known values that has the same bytes as a value that was just written.
  private func stored(_ value: LargeValue, among known: [Value]) throws -> LargeValue? {
    for case .large(let other) in known where other == value {
      guard var others = try cursor(of: other) else { continue }
      do throws(LogError) {
        var cursor = try log.pendingCursor(of: value)
        if try cursor.hasSameBytes(as: &others) { return other }
      } catch {
        guard case .largeValueLost = error else { throw error }
      }
    }
    return nil
  }

  package func makeSpool() throws(AnnalsError) -> SpoolFile? {
    try AnnalsError.translating { try log.makeSpool() }
  }

  package func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    guard added.contains(value) else { return try stored.bytes(of: value) }
    do throws(LogError) {
      return try log.pendingBytes(of: value)
    } catch {
      // A value that the store already has was not written again.
      if case .largeValueMissing = error { return try stored.bytes(of: value) }
      throw AnnalsError(error)
    }
  }

  package func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor? {
    guard added.contains(value) else { return try stored.cursor(of: value) }
    do throws(LogError) {
      return try log.pendingCursor(of: value)
    } catch {
      if case .largeValueMissing = error { return try stored.cursor(of: value) }
      throw AnnalsError(error)
    }
  }
}
