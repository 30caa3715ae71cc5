import AnnalsFormat
import AnnalsModel

extension FrameKind {
  /// What findings about a frame of this kind that cannot be read are about.
  var subject: Finding.Subject {
    switch self {
    case .checkpoint: .checkpoint
    case .consumerChange: .consumer
    case .retention: .retention
    case .tombstones: .tombstone
    default: .record
    }
  }

  /// What to do about a damaged frame of this kind.
  var remedy: String {
    switch self {
    case .chunk, .checkpoint, .retention: Remedy.compact
    case .consumerChange: Remedy.keeping
    default: Remedy.salvage
    }
  }
}

/// Replays side records, and compares directories with the result.
///
/// FORMAT.md, "Consumers" and "Retention".
struct SideRecordChecks {
  private var side = SideState()
  /// Whether every record so far could be read.
  private var isComplete = true

  /// Notes that a record may be missing.
  mutating func markIncomplete() { isComplete = false }

  /// Checks and applies a record. `head` is the number of the last whole transaction, nil if
  /// unknown; `isAnnounced` whether the file announces the feature.
  mutating func check(
    _ record: SideRecord, at offset: UInt64, head: Int64?, isAnnounced: Bool,
    _ log: inout FindingLog
  ) {
    let kind = record.kind
    func report(_ what: String, remedy: String = Remedy.compact) {
      log.error(kind.subject, at: offset, "the \(kind.name) here \(what)", remedy: remedy)
    }
    if !isAnnounced {
      report("is in a file that does not announce the feature", remedy: Remedy.announcing)
    }
    switch record {
    case .consumerChange(.set(let consumer)):
      if let head, consumer.number > head {
        report("has seen transaction \(consumer.number), where the log has only \(head)")
      }
    case .consumerChange(.remove(let name)):
      if isComplete, side.consumers[name] == nil { report("removes a consumer that is not there") }
    case .retention: break
    }
    if !side.apply(record) { report("adds one more consumer than the limit") }
  }

  /// Compares a directory with the frames before it.
  mutating func check(
    _ directory: CheckpointDirectory, at offset: UInt64, _ log: inout FindingLog
  ) {
    func compare(_ kind: FrameKind, _ isEqual: Bool, _ what: String) {
      if !isComplete || directory.isBase || isEqual { return }
      log.warning(
        kind.subject, at: offset,
        "the checkpoint of transaction \(directory.number) has \(what) than the log",
        remedy: Remedy.compact)
    }
    let found = directory.side
    compare(.consumerChange, found.consumers == side.consumers, "other consumers")
    compare(.retention, found.retention == side.retention, "another retention")
    side = found
    isComplete = true
  }
}
