import AnnalsFormat
import AnnalsModel

/// Follows what the frames say of consumers and of retention, and compares directories with it.
///
/// FORMAT.md, "Consumers" and "Retention".
struct ConsumerChecks {
  private(set) var table = ConsumerTable()
  private var retention = RetentionPolicy.off
  /// Whether every change so far could be read.
  private var isComplete = true

  /// Takes note that a change may be missing.
  mutating func forget() { isComplete = false }

  /// Takes in a change. `head` is the number of the last whole transaction, if that is known;
  /// `isAnnounced` whether the file says that it has consumers.
  mutating func take(
    _ change: ConsumerChange, at offset: UInt64, head: Int64?, isAnnounced: Bool,
    _ log: inout FindingLog
  ) {
    func tell(_ what: String) {
      log.error(.consumer, at: offset, "the consumer change here \(what)", remedy: Remedy.compact)
    }
    if !isAnnounced { tell("is in a file that does not announce the feature") }
    if case .set(let consumer) = change, let head, consumer.number > head {
      tell("has seen transaction \(consumer.number), where the log has only \(head)")
    }
    if case .remove(let name) = change, isComplete, table[name] == nil {
      tell("removes one that is not there")
    }
    if !table.apply(change) { tell("is of one more than the limit") }
  }

  /// Takes in how much history is kept; `isAnnounced` as of a consumer.
  mutating func take(
    _ policy: RetentionPolicy, at offset: UInt64, isAnnounced: Bool, _ log: inout FindingLog
  ) {
    if !isAnnounced {
      log.error(
        .retention, at: offset,
        "the retention here is in a file that does not announce the feature",
        remedy: Remedy.compact)
    }
    retention = policy
  }

  /// Compares a directory with the frames before it.
  mutating func take(
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
