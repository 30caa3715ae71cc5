import AnnalsFormat
import AnnalsModel

/// Replays the changes of consumers and retention, and compares directories with the result.
///
/// FORMAT.md, "Consumers" and "Retention".
struct ConsumerChecks {
  private(set) var table = ConsumerTable()
  private var retention = RetentionPolicy.off
  /// Whether every change so far could be read.
  private var isComplete = true

  /// Notes that a change may be missing.
  mutating func markIncomplete() { isComplete = false }

  /// Checks and applies a change. `head` is the number of the last whole transaction, nil if
  /// unknown; `isAnnounced` whether the file announces consumers.
  mutating func check(
    _ change: ConsumerChange, at offset: UInt64, head: Int64?, isAnnounced: Bool,
    _ log: inout FindingLog
  ) {
    func report(_ what: String, remedy: String = Remedy.compact) {
      log.error(.consumer, at: offset, "the consumer change here \(what)", remedy: remedy)
    }
    if !isAnnounced {
      report("is in a file that does not announce the feature", remedy: Remedy.announcing)
    }
    if case .set(let consumer) = change, let head, consumer.number > head {
      report("has seen transaction \(consumer.number), where the log has only \(head)")
    }
    if case .remove(let name) = change, isComplete, table[name] == nil {
      report("removes a consumer that is not there")
    }
    if !table.apply(change) { report("adds one more consumer than the limit") }
  }

  /// Checks and applies a retention policy. `isAnnounced` is whether the file announces retention.
  mutating func check(
    _ policy: RetentionPolicy, at offset: UInt64, isAnnounced: Bool, _ log: inout FindingLog
  ) {
    if !isAnnounced {
      log.error(
        .retention, at: offset,
        "the retention here is in a file that does not announce the feature",
        remedy: Remedy.announcing)
    }
    retention = policy
  }

  /// Compares a directory with the frames before it.
  mutating func check(
    _ directory: CheckpointDirectory, at offset: UInt64, _ log: inout FindingLog
  ) {
    if isComplete, !directory.isBase, directory.consumers != table {
      log.warning(
        .consumer, at: offset,
        "the checkpoint of transaction \(directory.number) has other consumers than the log",
        remedy: Remedy.compact)
    }
    if isComplete, !directory.isBase, directory.retention != retention {
      log.warning(
        .retention, at: offset,
        "the checkpoint of transaction \(directory.number) has another retention than the log",
        remedy: Remedy.compact)
    }
    table = directory.consumers
    retention = directory.retention
    isComplete = true
  }
}
