import Annals
import AnnalsEngine
import AnnalsModel
import Foundation

/// A draft that waits in a replica's outbox, until the shared log has it.
public struct OutboxItem: Sendable, Identifiable {
  /// What tells it from others; its transaction has it in its metadata, as `outbox`.
  public let id: UUID
  /// Its place in the order in which drafts were written, from 1.
  public let number: Int64
  /// Who wrote it.
  public let author: String?
  /// In what context.
  public let context: String?
  /// The message among its metadata.
  public let message: String?
  /// The group that it joins for undo.
  public let group: String?
  /// When it was written.
  public let date: Date
  /// The newest transaction of the log that was below it then.
  public let basedOn: Token
  /// How it is merged with what others write meanwhile; nil to hand it over if both changed one
  /// property.
  public internal(set) var policy: MergePolicy?
  /// How many bytes it takes in the outbox.
  public let byteCount: Int
  /// Why it cannot be sent as it is; nil while it just waits. `conflicts` and `violations` of the
  /// error name objects and properties.
  public internal(set) var conflict: AnnalsError?

  /// The object that it is in the outbox's store.
  let object: ObjectID
  /// The number under which it was offered to the log; nil if it never was.
  var offered: Int64?
  /// The ids that its objects have in what was offered.
  var offeredMoves: ObjectMoves?
}

/// What a replica's outbox holds.
public struct OutboxStatus: Sendable {
  /// How many drafts wait, those in conflict included.
  public var count = 0
  /// How many of them are in conflict: the program must decide about these.
  public var conflictCount = 0
  /// How many bytes they take.
  public var byteCount = 0
  /// When the oldest of them was written; nil if there is none.
  public var oldest: Date?
  /// Why the outbox cannot be used, or what it could not send; nil if all is well.
  public var failure: (any Error)?

  /// An outbox that is not there.
  init() {}

  /// That of an outbox with these drafts.
  init(_ items: [OutboxItem], _ failure: (any Error)? = nil) {
    self.failure = failure
    count = items.count
    conflictCount = items.count { $0.conflict != nil }
    byteCount = items.reduce(0) { $0 + $1.byteCount }
    oldest = items.first?.date
  }
}

/// How much an outbox may hold. All of it is in memory while drafts are made again.
public struct OutboxLimit: Sendable, Hashable {
  /// The most drafts.
  public var count: Int
  /// The most bytes.
  public var byteCount: Int

  /// A limit; 10,000 drafts and 256 MiB if nothing else is said.
  public init(count: Int = 10_000, byteCount: Int = 256 << 20) {
    self.count = count
    self.byteCount = byteCount
  }
}

/// What a write does while the shared log cannot be reached.
public enum OfflineWriting: Sendable {
  /// Asks the log, up to the deadline; then the draft waits in the outbox. It waits there at once
  /// if others wait already, or if a replica that follows knows that the log is away.
  case outbox
  /// The draft waits in the outbox, and the call never for the log.
  case outboxFirst
}

/// What became of a write that may wait.
public enum ReplicaWrite<Value: Sendable>: Sendable {
  /// It is committed: the log and this replica's file have it.
  case committed(Commit<Value>)
  /// It is not committed: it waits in the outbox, synced. The value is what the closure returned;
  /// ids of objects that it has inserted hold until it is committed, see `Replica.currentID(of:)`.
  case waiting(OutboxItem, Value)

  /// What the closure returned.
  public var value: Value {
    switch self {
    case .committed(let commit): commit.value
    case .waiting(_, let value): value
    }
  }
}

/// What became of drafts that were sent.
public struct OutboxReport: Sendable {
  /// A draft that left the outbox, since the log has it.
  public struct Sent: Sendable {
    /// The draft.
    public let item: OutboxItem
    /// The position after its transaction. Nil if it came to nothing: others had done the same, or
    /// by its policy the stored state stays, as `conflicts` says.
    public let token: Token?
    /// The conflicts that its merge policy resolved. Empty for one that was found in the log.
    public let conflicts: [PropertyConflict]
    /// The ids that its new objects had while it waited, and those that they have.
    public let movedObjects: [ObjectID: ObjectID]
  }

  /// The drafts that left, in order.
  public internal(set) var sent: [Sent] = []
  /// The draft that could not be sent, and behind which others wait; nil if the outbox is empty.
  public internal(set) var conflicted: OutboxItem?
}

/// What a snapshot of a replica includes beside its store.
public enum SnapshotInclusion: Sendable {
  /// The drafts that wait, in order, but for those in conflict.
  case outbox
}
