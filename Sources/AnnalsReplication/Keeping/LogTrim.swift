import Annals
import AnnalsModel
import Foundation

/// What came of an attempt to trim a log.
public struct LogTrim: Hashable, Sendable {
  /// The sequence of the log's first record now.
  public var first: UInt64
  /// How many records were dropped.
  public var count: UInt64
  /// The sequence of the newest snapshot; nil if there is none of this log's history.
  public var snapshot: UInt64?
  /// What kept the log from being trimmed up to the newest snapshot, that which holds it most
  /// first; empty if nothing did.
  public var holds: [TrimHold]
}

/// What keeps a log from being trimmed further.
public struct TrimHold: Hashable, Sendable {
  /// What it is.
  public enum Cause: Hashable, Sendable {
    /// The log has no snapshot of its history.
    case noSnapshot
    /// So much is to be kept.
    case kept
    /// A replica has come no further.
    case replica(ReplicaRegistration)
    /// A blocking consumer of a replica's store has read no further.
    case consumer(ReplicaRegistration.Consumer, of: ReplicaRegistration)
  }

  /// What it is.
  public var cause: Cause
  /// The sequence of the last record that may be dropped for all of it.
  public var sequence: UInt64
}

extension TrimHold: CustomStringConvertible {
  /// `replica host:books.annals, which has record 99`.
  public var description: String {
    switch cause {
    case .noSnapshot: "there is no snapshot"
    case .kept: "the records after \(sequence) are to be kept"
    case .replica(let replica): "replica \(replica.name), which has record \(sequence)"
    case .consumer(let consumer, let replica):
      "consumer `\(consumer.name)` of replica \(replica.name), which has read record \(sequence)"
    }
  }
}

/// How far a log may be trimmed.
struct TrimGate: Sendable {
  /// The sequence of the newest snapshot of the log's history; nil if there is none.
  var snapshot: UInt64?
  /// The last record that may be dropped by what is to be kept.
  var kept = UInt64.max
  var registrations: [ReplicaRegistration]
  var now: Date

  /// The last record that may be dropped: one before the snapshot's, by which everybody can see
  /// that the snapshot is of this log's history.
  var last: UInt64 { holds.first?.sequence ?? most }

  /// The last record that may be dropped if nobody needs more.
  private var most: UInt64 { max(snapshot ?? 0, 1) - 1 }

  /// What keeps the log from being trimmed up to the snapshot, the least first.
  var holds: [TrimHold] {
    guard snapshot != nil else { return [TrimHold(cause: .noSnapshot, sequence: 0)] }
    var holds = [TrimHold(cause: .kept, sequence: kept)]
    for replica in registrations where replica.isLeaseRunning(at: now) {
      holds.append(TrimHold(cause: .replica(replica), sequence: replica.sequence))
      if let consumer = replica.consumer {
        holds.append(
          TrimHold(cause: .consumer(consumer, of: replica), sequence: consumer.sequence))
      }
    }
    return holds.filter { $0.sequence < most }.sorted { $0.sequence < $1.sequence }
  }
}
