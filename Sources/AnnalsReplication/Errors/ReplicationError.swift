import AnnalsModel

/// What a replica throws about the shared log and its own place in it. What the store itself
/// refuses is an `AnnalsError`, as ever.
///
/// `message` says what happened, and what to do.
public struct ReplicationError: Error, Sendable {
  /// The kind of an error. An open set: compare with `==`, and handle unknown codes.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    private init(_ name: String) { description = name }

    /// The log cannot be reached, and the deadline has passed. Nothing was recorded.
    public static let unavailable = Code("unavailable")
    /// The log did not say whether it took the transaction, and the deadline has passed. If it did,
    /// every replica will have it.
    public static let outcomeUnknown = Code("outcomeUnknown")
    /// Others were faster each time, until the deadline. Nothing was recorded.
    public static let contended = Code("contended")
    /// The log took the transaction, and this replica's file could not. It is committed; the file
    /// gets it when the replica next catches up.
    public static let notInFile = Code("notInFile")
    /// The file and the log are of different stores.
    public static let otherStore = Code("otherStore")
    /// The file has transactions that did not come from a shared log.
    public static let notAReplica = Code("notAReplica")
    /// The log ends before what this replica has from it: it lost its tail, or an older state of it
    /// was restored; and `ReplicaOptions` say that it is not to be mended, or the log is empty.
    public static let lostTail = Code("lostTail")
    /// The log lost a transaction that came from it, and that this replica cannot make again as it
    /// was: it was pruned since.
    public static let notRemade = Code("notRemade")
    /// The log has other transactions than this replica has from it; see `lastShared`.
    public static let branched = Code("branched")
    /// The log lacks a transaction between two others.
    public static let skipped = Code("skipped")
    /// The log has a transaction twice.
    public static let repeated = Code("repeated")
    /// A transaction does not fit the state that it should follow on: the replica's file was
    /// written to otherwise, or replicas differ.
    public static let diverged = Code("diverged")
    /// The log begins after what this replica needs next, and has no snapshot that has it.
    public static let trimmed = Code("trimmed")
    /// The bytes of a transaction or a snapshot are not what was put in.
    public static let damaged = Code("damaged")
    /// A newer version of the program wrote a transaction, which this one cannot read.
    public static let newerVersion = Code("newerVersion")
    /// The transaction is larger than replicas exchange. Nothing was recorded.
    public static let tooLarge = Code("tooLarge")
    /// The log refuses the request.
    public static let refused = Code("refused")
    /// The outbox holds as much as it may. Nothing was recorded.
    public static let outboxFull = Code("outboxFull")
    /// The file beside the replica's is no outbox.
    public static let notAnOutbox = Code("notAnOutbox")
    /// The draft is not in the outbox: it was sent, or discarded.
    public static let noSuchDraft = Code("noSuchDraft")
    /// The replica is closed.
    public static let closed = Code("closed")
  }

  /// The kind of error.
  public let code: Code
  /// What happened, and what to do about it. Ends without a full stop.
  public let message: String
  /// The newest transaction that this replica and the log have in common, where that is known.
  public let lastShared: Int64?

  /// Creates an error from its parts.
  public init(_ code: Code, _ message: String, lastShared: Int64? = nil) {
    self.code = code
    self.message = message
    self.lastShared = lastShared
  }

  /// Whether the replica cannot go on with this log: catching up again would find the same.
  package var isLasting: Bool {
    let passing: [Code] = [.unavailable, .outcomeUnknown, .contended, .notInFile]
    return !passing.contains(code)
  }
}

extension ReplicationError {
  /// The error of a log of another store than the file's.
  static func otherStore(_ theirs: RawUUID, _ own: RawUUID) -> ReplicationError {
    ReplicationError(
      .otherStore,
      "the log has transactions of store \(theirs), and this is store \(own); nothing was changed")
  }
}

extension ReplicationError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
