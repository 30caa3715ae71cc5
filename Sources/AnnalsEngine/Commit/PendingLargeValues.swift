import AnnalsLog
import AnnalsModel

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
    try AnnalsError.translating {
      try beginIfNeeded()
      let value = try bytes.withUnsafeBytes { try log.appendLargeValue($0, tag: tag) }
      added.insert(value)
      return value
    }
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
}
