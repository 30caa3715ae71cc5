import AnnalsFormat
import AnnalsModel

/// The findings of an opening: where it started, how far it came, and what was odd.
package struct RecoveryReport: Sendable {
  /// The transaction whose state the replay started from.
  package var start: Int64 = 0
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
  /// The newest valid root slot; nil if there is none.
  package var newestSlot: RootSlot?
  /// Damage past which the log could be read.
  package var findings: [LogFinding] = []

  /// Whether the newest slot is that of a clean close and names the end of the file, so that
  /// nothing can be missing after the end of the log.
  package var isEndProven: Bool {
    guard case .clean = tail, let newestSlot else { return false }
    return newestSlot.durableMark == size && newestSlot.extent == size
  }
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

/// A defect of the file past which the log could be read.
package struct LogFinding: Hashable, Sendable {
  /// What the defect is in, which decides what it may cost.
  package enum Subject: Hashable, Sendable {
    case slot, checkpoint
    /// A side record of this kind.
    case sideRecord(FrameKind)
  }

  package var subject: Subject
  /// Where in the file it is.
  package var offset: UInt64
  /// What is wrong.
  package var text: String

  package init(_ subject: Subject, offset: UInt64, text: String) {
    self.subject = subject
    self.offset = offset
    self.text = text
  }
}
