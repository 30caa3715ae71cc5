extension AnnalsError {
  /// The kind of an error. An open set: compare with `==` or match with `case`, and handle unknown
  /// codes.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    private init(_ name: String) { description = name }

    /// No file exists at the path.
    public static let notFound = Code("notFound")
    /// A file already exists where a new one was to be written.
    public static let alreadyExists = Code("alreadyExists")
    /// The file is not an Annals store. It was not touched.
    public static let notAnAnnalsFile = Code("notAnAnnalsFile")
    /// The file was written by a newer version, or uses a feature of one. It is not damaged.
    public static let newerVersion = Code("newerVersion")
    /// The request is not possible with this file, system or version.
    public static let unsupported = Code("unsupported")
    /// Bytes of the file differ from what was written; `offset` says where.
    public static let damaged = Code("damaged")
    /// The file ends before data that had been synced.
    public static let missingData = Code("missingData")
    /// The position lies before the oldest history that the store keeps; see `gap`.
    public static let pruned = Code("pruned")
    /// The position lies among transactions that damage destroyed before the store was salvaged;
    /// see `lostTransactions`. Also: the bytes of a large value were destroyed.
    public static let lost = Code("lost")
    /// The token, or the object, belongs to another store.
    public static let otherStore = Code("otherStore")
    /// The token's transaction number exists, but another opening wrote it: the history that the
    /// token names was lost or replaced; see `lastShared`.
    public static let lostBranch = Code("lostBranch")
    /// The position lies after the newest transaction.
    public static let beyondHead = Code("beyondHead")
    /// A schema is impossible; see `schemaConflicts`.
    public static let invalidSchema = Code("invalidSchema")
    /// Values break rules of the schema; see `violations`.
    public static let invalidChange = Code("invalidChange")
    /// A stored value does not fit the type of the record's property.
    public static let unreadableRecord = Code("unreadableRecord")
    /// A value was erased, and the record's property does not say what to read instead.
    public static let erased = Code("erased")
    /// No object has this id.
    public static let noSuchObject = Code("noSuchObject")
    /// Something changed since the caller last read it; see `conflicts`.
    public static let conflict = Code("conflict")
    /// Consumers have not yet read what was to be dropped; see `blockers`.
    public static let blocked = Code("blocked")
    /// The author has nothing to undo, or nothing to redo: all is undone, or something was written
    /// since the last undo.
    public static let nothingToUndo = Code("nothingToUndo")
    /// A migration of the program failed, and with it the opening of the store; see `thrown`.
    /// Nothing of the migration was recorded; those before it were.
    public static let migrationFailed = Code("migrationFailed")
    /// Text or a number from outside the program cannot be used.
    public static let invalidArgument = Code("invalidArgument")
    /// A file or stream that was to be read in cannot be read as what it should be; `inputPlace`
    /// says where.
    public static let invalidInput = Code("invalidInput")
    /// A value or a transaction is larger than a store can hold.
    public static let tooLarge = Code("tooLarge")
    /// A write, checkpoint, refresh or close inside the closure of a write of the same store, which
    /// it would wait for for ever. Use the transaction that the closure is given.
    public static let nestedWrite = Code("nestedWrite")
    /// The code of a projection threw; see `thrown`.
    public static let projectionFailed = Code("projectionFailed")
    /// Another process holds the store's lock, and `lockTimeout` has passed.
    public static let busy = Code("busy")
    /// The store is suspended, and writes nothing until `resume()`.
    public static let suspended = Code("suspended")
    /// The process was forked from the one that opened the store. Open the store again.
    public static let forked = Code("forked")
    /// The store is open for reading only.
    public static let readOnly = Code("readOnly")
    /// The store is closed.
    public static let closed = Code("closed")
    /// An earlier write failed. This opening of the store refuses all further calls; open the store
    /// again.
    public static let poisoned = Code("poisoned")
    /// The call was cancelled before anything was recorded.
    public static let cancelled = Code("cancelled")
    /// A write failed at a point where it may or may not have reached the disk.
    public static let outcomeUnknown = Code("outcomeUnknown")
    /// The disk is full. Nothing was recorded.
    public static let noSpace = Code("noSpace")
    /// The operating system denies access.
    public static let permission = Code("permission")
    /// The operating system reported another error; see `underlying`.
    public static let io = Code("io")
  }
}
