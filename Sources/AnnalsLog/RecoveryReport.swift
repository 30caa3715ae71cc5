import AnnalsModel

/// The findings of an opening: where it started, how far it came, and what was odd.
package struct RecoveryReport: Sendable {
  /// The transaction whose state the replay started from, and that state's offset; offset 0 stands
  /// for the empty state.
  package var start: Int64 = 0
  package var startOffset: UInt64 = 0
  /// How many transactions after it were replayed.
  package var replayedTransactions: Int64 = 0
  /// The greatest offset up to which a root slot or a valid frame proves the log synced.
  package var provenMark: UInt64 = 0
  /// The end of the last whole transaction or checkpoint.
  package var end: UInt64 = 0
  /// What follows the end.
  package var tail: LogTail = .clean
  /// The size of the file when its end was searched for.
  package var size: UInt64 = 0
  /// Damage that loses nothing.
  package var findings: [LogFinding] = []

  package init() {}
}

/// What follows the last whole transaction of a log.
package enum LogTail: Hashable, Sendable {
  /// Nothing: the file was closed.
  case clean
  /// Space allocated ahead, which reads as zeros: the file is open elsewhere or was not closed.
  case unclosed
  /// Bytes that are not a whole transaction: one in progress in another process, or one that a
  /// crash cut short. Only the holder of the lock can tell which; a transaction there was never
  /// acknowledged. `byteCount` leaves out trailing zeros.
  case unfinished(from: UInt64, byteCount: UInt64)
  /// Damage to acknowledged data; the log was read up to there.
  case damaged(LogDamage)
}

/// A defect of the file that loses nothing of its content.
package struct LogFinding: Hashable, Sendable {
  /// Where in the file it is.
  package var offset: UInt64
  /// What is wrong.
  package var text: String

  package init(offset: UInt64, text: String) {
    self.offset = offset
    self.text = text
  }
}
