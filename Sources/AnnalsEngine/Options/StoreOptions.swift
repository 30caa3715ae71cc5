import AnnalsStorage

/// Where a store lives.
public struct StoreLocation: Sendable {
  package var fileSystem: any FileSystem
  package var path: String
  /// How near to each other commits must be for a run (`CommitRun`), and how long the file lock is
  /// kept in one; nil for no runs, where every call of the file system is to come at its own time.
  package var commitRun: Duration?

  package init(fileSystem: any FileSystem, path: String, commitRun: Duration? = nil) {
    self.fileSystem = fileSystem
    self.path = path
    self.commitRun = commitRun
  }

  /// The file at this path.
  public static func file(_ path: String) -> StoreLocation {
    StoreLocation(fileSystem: PosixFileSystem(), path: path, commitRun: .milliseconds(5))
  }

  /// A new store in memory: the whole engine without a file, for tests. It ends with the `Store`.
  public static var memory: StoreLocation {
    StoreLocation(
      fileSystem: MemoryFileSystem(), path: "/memory.annals", commitRun: .milliseconds(5))
  }
}

/// How a store is opened; fixed for one opening.
public struct StoreOptions: Sendable {
  /// What a commit promises when it returns.
  public enum Durability: Sendable {
    /// Synced: a power cut loses nothing acknowledged. Concurrent commits share a sync.
    case full
    /// Written: a killed process loses nothing acknowledged, a power cut may. Synced by `sync()`,
    /// at checkpoints and by `close()`; if that fails, with `.outcomeUnknown`, what was committed
    /// since the last sync may be gone at once, since systems may drop what they could not write.
    case deferred
  }

  /// How the file's lock is held.
  public enum LockMode: Sendable {
    /// For each group of commits, so that other processes may write in between. What one process
    /// commits without a break counts as a group, for 5 ms at most.
    case shared
    /// Throughout, so that no other process can write until the store is closed.
    case exclusive
  }

  /// What a commit promises; full by default.
  public var durability: Durability = .full
  /// How the lock is held; shared by default.
  public var lockMode: LockMode = .shared
  /// Whether the store is opened for reading only: nothing is created or changed.
  public var isReadOnly = false
  /// Whether a store whose middle is damaged may be read up to the damage. For reading only.
  public var readsUpToDamage = false
  /// How long a write waits for another process to give up the lock before it throws `.busy`.
  public var lockTimeout: Duration = .seconds(10)

  /// Whether opening makes the newest state with the objects' values. Without them it takes no
  /// memory for what lies behind the newest checkpoint, and objects can be counted; what needs
  /// values goes through the log again. For reading only.
  package var holdsValues = true

  /// The default options.
  public init() {}

  /// The default options, but for reading only.
  public static var readOnly: StoreOptions {
    var options = StoreOptions()
    options.isReadOnly = true
    return options
  }

  /// The default options, but with commits that are not synced before they return.
  public static var deferred: StoreOptions {
    var options = StoreOptions()
    options.durability = .deferred
    return options
  }
}
