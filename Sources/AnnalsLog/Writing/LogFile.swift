import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// The log of one store: joins the format's bytes and the storage's files.
//
// Invariants:
// - The log is a chain of frames that ends with its last whole *unit*: a transaction with its large
//   values and all of its parts, or a checkpoint with its chunks. After it follow zeros, a unit in
//   the making, or what a crash left of one.
// - Only the holder of the file lock writes. Before its first write it catches up to the end of the
//   log and repairs the tail: it writes zeros over what a crash left after the end, and writes
//   again, unchanged, and syncs the bytes that nothing proves to have been synced.
// - A transaction is in the tables, and visible in `view`, only after its last byte was written. An
//   aborted one leaves zeros.
// - A durable mark (in frames and slots) is the end of a unit. Whoever wrote it had synced
//   everything before it, or had found that proven by an earlier mark.
// - A root slot names only what was synced before it was written. It is written only after a sync
//   of this log's own that covered the newest slot, whoever wrote that. So one slot is whole at any
//   time; if none is, the file is damaged.
// - The file is never shorter than the extent in its newest slot says.
// - After a failed write or sync nothing more is written, ever. What was not acknowledged is
//   removed from the file, as far as possible, before the lock is released.
// - Reading never writes. All reading goes through `LogView`, a value that keeps one generation of
//   the file open.

/// One store's log, open.
///
/// `view` may be read at any time on any thread. The calls of a writer (`lock` … `unlock`, `begin`
/// … `commit`, `catchUp`, `reload`, `writeCheckpoint`, `close`) come from one thread at a time.
/// `sync` comes from one thread at a time; it may overlap with another thread's `begin` … `commit`
/// or `abort`, and with no other call of a writer.
package final class LogFile: Sendable {
  /// The path, with all symbolic links followed.
  package let path: String
  /// The store's identity.
  package let store: RawUUID
  package let fileSystem: any FileSystem
  let options: LogOptions
  let state: Locked<LogState>

  init(
    path: String, fileSystem: any FileSystem, options: LogOptions, loading: LogLoading
  ) throws(LogError) {
    self.path = path
    self.fileSystem = fileSystem
    self.options = options
    store = loading.generation.header.store
    state = Locked(try LogState(loading, options))
  }

  /// Opens the log at `path` and reads it once. Writes nothing and takes no lock.
  ///
  /// Calls `restore` with the newest state to start from. Calls it again with an older one if that
  /// proves unusable (its chunks are damaged, or `restore` or `apply` throws); everything built so
  /// far is then void. The last resort is the state at the base. Then calls `apply` with the
  /// transactions that follow, in order: whole ones, or one part of a large one once all its parts
  /// are known to exist.
  ///
  /// Throws `damage` if acknowledged data is damaged, unless `options` say to read up to it;
  /// `newerReader`, or `newerWriter` for writing, if the file announces features that this engine
  /// does not know.
  package static func open(
    at path: String, in fileSystem: any FileSystem, _ options: LogOptions,
    restore: (LogStart) throws -> Void, apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) -> LogFile {
    precondition(
      options.access == .reading || !options.readsUpToDamage, "writing never proceeds past damage")
    let resolved = try storage { () throws(StorageError) in try fileSystem.resolve(path) }
    let generation = try openGeneration(at: resolved, in: fileSystem, options)
    var loading = LogLoading(generation, options)
    do throws(LogError) {
      try loading.run(from: .newest, restore: restore, apply: apply)
    } catch {
      guard options.access == .writing, error.isDamage else { throw error }
      // Damage is judged under the lock, while nobody writes.
      let file = generation.file
      let wait = LockWait.until(.now + secondLookWait)
      guard try storage({ () throws(StorageError) in try file.lock(.exclusive, wait: wait) }) else {
        throw .busy
      }
      defer { file.unlock() }
      loading = LogLoading(generation, options)
      try loading.run(from: .newest, restore: restore, apply: apply)
    }
    return try LogFile(
      path: resolved, fileSystem: fileSystem, options: options, loading: loading)
  }

  /// How long an opening that met damage waits for the lock to look again.
  private static let secondLookWait = Duration.seconds(5)

  static func openGeneration(
    at path: String, in fileSystem: any FileSystem, _ options: LogOptions
  ) throws(LogError) -> LogGeneration {
    let file: any StorageFile
    do {
      file = try fileSystem.open(path, for: options.access)
    } catch {
      throw error.isMissing ? .missing : .storage(error)
    }
    let generation = try LogGeneration.open(file)
    if options.access == .writing { try generation.header.features.requireWritable() }
    return generation
  }

  /// A watch of the path, whichever generation of the file is there.
  package func watch() -> any FileWatch { fileSystem.watch(path) }

  /// The findings of the opening, or of the newest `reload`.
  package var report: RecoveryReport { state.withLock { $0.report } }

  /// Everything readable as of the newest transaction that was appended or read, synced or not.
  package var view: LogView { state.withLock { $0.view } }

  /// Whether a write or sync has failed, so that nothing more can be written.
  package var isPoisoned: Bool { state.withLock { $0.isPoisoned } }

  /// The number of changes since the newest checkpoint, or since the base.
  package var changesSinceCheckpoint: Int {
    state.withLock { Int($0.tables.changeCount - $0.tables.changesAtCheckpoint) }
  }

  /// The bytes of log since the newest checkpoint, or since the base.
  package var bytesSinceCheckpoint: UInt64 { view.bytesSinceCheckpoint }

  /// Whether transactions were appended that no sync has covered.
  package var needsSync: Bool { state.withLock { $0.synced.offset < $0.end.offset } }

  /// Reads the log again from the file that is now at the path: after another process has replaced
  /// it by a new generation, after `rewound`, or from the base because a checkpoint proved damaged.
  /// As `open`, but keeps the lock if it is held. If it throws, the log stays as it was.
  package func reload(
    from choice: StartChoice = .newest, restore: (LogStart) throws -> Void,
    apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) {
    let generation = try state.withLock { (state) throws(LogError) in
      try state.requireOpen()
      precondition(state.transaction == nil, "a transaction is open")
      return state.replacement ?? state.generation
    }
    var loading = LogLoading(generation, options)
    try loading.run(from: choice, restore: restore, apply: apply)
    let options = options
    try state.withLock { (state) throws(LogError) in
      let wasLocked = state.isLocked
      let old = state.generation
      let advances = state.advances
      state = try LogState(loading, options)
      state.advances = advances
      state.isLocked = wasLocked
      if wasLocked, old !== generation { old.file.unlock() }
    }
  }
}
