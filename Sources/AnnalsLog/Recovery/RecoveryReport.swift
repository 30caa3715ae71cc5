import AnnalsModel

/// What opening a file found: where it started, how far it got, and what was odd.
package struct RecoveryReport: Sendable {
  /// Which root slot was used; nil if none could be, so that the log was read from its beginning.
  package var slot: Int?
  /// The transaction whose state reading started from, and where it was; offset 0 stands for the
  /// empty state.
  package var start: Int64 = 0
  package var startOffset: UInt64 = 0
  /// How many transactions behind it were read and applied.
  package var replayedTransactions: Int64 = 0
  /// The greatest offset up to which a root slot or a valid frame says that the log was synced.
  package var provenMark: UInt64 = 0
  /// Where the last whole transaction or checkpoint ends.
  package var end: UInt64 = 0
  /// What lies behind the end.
  package var tail: LogTail = .clean
  /// The size of the file when its end was looked for.
  package var size: UInt64 = 0
  /// What was found damaged without loss.
  package var findings: [LogFinding] = []

  package init() {}
}

/// What lies behind the last whole transaction of a log.
package enum LogTail: Hashable, Sendable {
  /// Nothing: the file was closed.
  case clean
  /// Space allocated ahead, which reads as zeros: the file is open elsewhere or was not closed.
  case unclosed
  /// Bytes that are no whole transaction: one in progress in another process, or one that a crash
  /// cut short. Only the holder of the lock can tell; a transaction there was never acknowledged.
  /// Zeros behind the last of them are not counted.
  case unfinished(from: UInt64, byteCount: UInt64)
  /// Acknowledged data that was damaged; the log was read up to there.
  case damaged(LogDamage)
}

/// One thing that is wrong in a file without loss of what it holds.
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
