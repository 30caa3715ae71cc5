import AnnalsStorage

/// Where a store is kept.
public struct StoreLocation: Sendable {
  package var fileSystem: any FileSystem
  package var path: String
  /// The greatest pause between the commits of a run (`CommitRun`), and how long a run keeps the
  /// file lock. Nil for no runs; then every file system call happens at its own time.
  package var commitRun: Duration?

  package init(fileSystem: any FileSystem, path: String, commitRun: Duration? = nil) {
    self.fileSystem = fileSystem
    self.path = path
    self.commitRun = commitRun
  }

  /// A store in the file at this path.
  public static func file(_ path: String) -> StoreLocation {
    StoreLocation(fileSystem: PosixFileSystem(), path: path, commitRun: .milliseconds(5))
  }

  /// A new store in memory: the whole engine without a file, for tests. It is gone when the `Store`
  /// is released.
  public static var memory: StoreLocation {
    StoreLocation(
      fileSystem: MemoryFileSystem(), path: "/memory.annals", commitRun: .milliseconds(5))
  }
}

/// How a store is opened. Fixed for one opening.
public struct StoreOptions: Sendable {
  /// What a commit guarantees when it returns.
  public enum Durability: Sendable {
    /// Synced to disk: a power cut loses nothing acknowledged. Concurrent commits share a sync.
    case full
    /// Written to the operating system: a killed process loses nothing acknowledged, a power cut
    /// may. `sync()`, checkpoints and `close()` sync. If a sync fails, it throws `.outcomeUnknown`,
    /// and the commits since the last sync may be lost at once, since systems may drop what they
    /// could not write.
    case deferred
  }

  /// How the file lock is held.
  public enum LockMode: Sendable {
    /// Taken for each group of commits, so that other processes can write in between. Commits of
    /// one process without a pause count as one group, for at most 5 ms.
    case shared
    /// Held throughout: no other process can write until the store is closed.
    case exclusive
  }

  /// What a commit guarantees; `.full` by default.
  public var durability: Durability = .full
  /// How the file lock is held; `.shared` by default.
  public var lockMode: LockMode = .shared
  /// Whether the store is opened for reading only. Then nothing is created or changed.
  public var isReadOnly = false
  /// Whether a store with damage may be read up to the damage. For reading only.
  public var readsUpToDamage = false
  /// Whether a file whose newest transaction came from a log that replicas share may be written to
  /// all the same. That parts it from the log: it is a store of its own from then on, and no
  /// replica opens it again. If not, writes throw `.readOnly`.
  public var leavesSharedLog = false
  /// How long a write waits for another process to release the lock before it throws `.busy`; 10
  /// seconds if not set.
  public var lockTimeout: Duration = .seconds(10)

  /// Called while a change of the schema is made that has much to do for all objects: when opening
  /// makes migrations or fills derived attributes, and when later calls do. Every few thousand
  /// objects, on the caller's thread; it must not use the store. Throw to stop: the call throws
  /// `.cancelled`, and nothing of that change is recorded. Nil by default.
  public var progress: (@Sendable (OpeningProgress) throws -> Void)?

  /// Whether opening loads the objects' values. Without them the store takes no memory for what
  /// lies after the newest checkpoint, and can only count objects; reading values goes through the
  /// log again. For reading only.
  package var holdsValues = true

  /// The default options.
  public init() {}

  /// The default options, for reading only.
  public static var readOnly: StoreOptions {
    var options = StoreOptions()
    options.isReadOnly = true
    return options
  }

  /// For looking into a file: without its values in memory.
  package static var looking: StoreOptions {
    var options = StoreOptions.readOnly
    options.holdsValues = false
    return options
  }

  /// The default options with `.deferred` durability: commits return before they are synced.
  public static var deferred: StoreOptions {
    var options = StoreOptions()
    options.durability = .deferred
    return options
  }
}
