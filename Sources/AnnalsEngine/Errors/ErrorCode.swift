extension AnnalsError {
  /// What kind of thing went wrong; an open set, compared with `==` or matched with `case`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Base: String {
      case notFound, alreadyExists, notAnAnnalsFile, newerVersion, unsupported
      case damaged, missingData
      case pruned, lost, otherStore, lostBranch, beyondHead
      case invalidSchema, invalidChange, unreadableRecord, erased, noSuchObject, conflict, blocked
      case invalidArgument
      case tooLarge, projectionFailed
      case busy, readOnly, closed, poisoned, cancelled, outcomeUnknown, noSpace, permission, io
    }

    private var base: Base

    private init(_ base: Base) {
      self.base = base
    }

    /// There is no file at the path.
    public static let notFound = Code(.notFound)
    /// There is a file already where a new one was to be written.
    public static let alreadyExists = Code(.alreadyExists)
    /// The file is something else than a store; it has not been touched.
    public static let notAnAnnalsFile = Code(.notAnAnnalsFile)
    /// The file was written by a newer version, or uses a feature of one. It is not damaged.
    public static let newerVersion = Code(.newerVersion)
    /// What was asked for is not possible with this file, system or version.
    public static let unsupported = Code(.unsupported)
    /// Bytes of the file are not what was written; `offset` says where.
    public static let damaged = Code(.damaged)
    /// The file ends before data that had been synced.
    public static let missingData = Code(.missingData)
    /// The position lies before the oldest history that the store keeps; see `gap`.
    public static let pruned = Code(.pruned)
    /// The position lies among transactions that damage destroyed before the store was salvaged;
    /// see `lostTransactions`. Or the bytes of a large value were destroyed.
    public static let lost = Code(.lost)
    /// The token belongs to another store.
    public static let otherStore = Code(.otherStore)
    /// The token's transaction exists, but another opening wrote it: the history that the token
    /// knew was lost or replaced; see `lastShared`.
    public static let lostBranch = Code(.lostBranch)
    /// The position lies after the newest transaction.
    public static let beyondHead = Code(.beyondHead)
    /// A schema is not possible; see `schemaConflicts`.
    public static let invalidSchema = Code(.invalidSchema)
    /// Values break rules of the schema; see `violations`.
    public static let invalidChange = Code(.invalidChange)
    /// A stored value does not suit the record's property.
    public static let unreadableRecord = Code(.unreadableRecord)
    /// A value was erased, and the record's property does not say what it reads as then.
    public static let erased = Code(.erased)
    /// There is no object of this id.
    public static let noSuchObject = Code(.noSuchObject)
    /// Something changed since the caller looked: see `conflicts`.
    public static let conflict = Code(.conflict)
    /// Consumers have not seen what was to be dropped yet; see `blockers`.
    public static let blocked = Code(.blocked)
    /// Text or a number from outside the program that cannot be used.
    public static let invalidArgument = Code(.invalidArgument)
    /// A value or a transaction is larger than a store can hold.
    public static let tooLarge = Code(.tooLarge)
    /// The code of a projection threw; see `thrown`.
    public static let projectionFailed = Code(.projectionFailed)
    /// Another process holds the store's lock, and the time to wait for it is over.
    public static let busy = Code(.busy)
    /// The store was opened for reading only.
    public static let readOnly = Code(.readOnly)
    /// The store has been closed.
    public static let closed = Code(.closed)
    /// An earlier write failed, so that this opening of the store can go on no more.
    public static let poisoned = Code(.poisoned)
    /// The call was cancelled before anything was recorded.
    public static let cancelled = Code(.cancelled)
    /// A write failed at a point where it may have reached the disk or not.
    public static let outcomeUnknown = Code(.outcomeUnknown)
    /// The disk is full; nothing was recorded.
    public static let noSpace = Code(.noSpace)
    /// The system does not allow it.
    public static let permission = Code(.permission)
    /// The system reported another error; see `underlying`.
    public static let io = Code(.io)

    /// The code's name.
    public var description: String { base.rawValue }
  }
}
