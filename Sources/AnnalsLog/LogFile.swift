import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// The log of one store: what joins the format's bytes and the storage's files.
//
// Invariants:
// - The log is a chain of frames. It ends with its last whole *unit*: a transaction with its blobs
//   and all of its parts, or a checkpoint with its chunks. What lies behind is zeros, or a unit in
//   the making, or what a crash left of one.
// - Only the holder of the file lock writes. It first catches up to the end of the log, puts zeros
//   over what a crash left behind the end, and writes again, as they are, and syncs the bytes that
//   nothing proves to have been synced.
// - A transaction is in the tables, and visible in `view`, only when its last byte was written. One
//   that is aborted leaves zeros.
// - A durable mark (in frames and slots) is where a unit ends, and everything before it was synced
//   by whoever wrote the mark, or was found proven by an earlier mark.
// - A root slot names only what was synced before it was written, and is written only after a sync
//   of this log's own that covered the newest slot, whoever wrote that; so one slot is whole at any
//   time, and none is damage.
// - The file is never shorter than the extent in its newest slot says.
// - After a write or sync failed nothing more is written, ever; what was not acknowledged is taken
//   out of the file again, as far as that can be done, before the lock is given up.
// - Reading never writes. Everything read goes through `LogView`, a value that holds on to one
//   generation of the file.

/// One store's log, open.
///
/// `view` may be asked for at any time on any thread. The calls of a writer (`lock` … `unlock`,
/// `begin` … `finish`, `catchUp`, `reload`, `writeCheckpoint`, `close`) come from one thread at
/// a time. `sync` comes from one thread at a time and may overlap with `begin` … `finish` or
/// `abort` of another, and with no other call of a writer.
package final class LogFile: Sendable {
  /// The path, all symbolic links followed.
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

  /// Opens the log at `path`. Goes through it once; writes nothing and takes no lock.
  ///
  /// Calls `restore` with the newest state that can be started from, and again, with an older one,
  /// if that proves unusable (its chunks are damaged, or `restore` or `apply` throws): each time
  /// all that was made before is void. The state at the base is the last resort. Then calls `apply`
  /// with the transactions behind it, in order: whole ones, or one part of a large one when all its
  /// parts are known to be there.
  ///
  /// Throws `damage` if acknowledged data was damaged, unless `options` say to read up to it;
  /// `newerReader`, or `newerWriter` for writing, if features are announced that this engine does
  /// not know.
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
      // Only under the lock nobody writes what is judged.
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

  /// How long an opening that met damage waits for the lock, to look again.
  private static let secondLookWait = Duration.seconds(5)

  static func openGeneration(
    at path: String, in fileSystem: any FileSystem, _ options: LogOptions
  ) throws(LogError) -> LogGeneration {
    do {
      let generation = try LogGeneration.open(try fileSystem.open(path, for: options.access))
      if options.access == .writing { try generation.header.features.requireWritable() }
      return generation
    } catch let error as LogError {
      throw error
    } catch let error as StorageError {
      throw error.isMissing ? .missing : .storage(error)
    } catch {
      throw .interrupted(error)
    }
  }

  /// A watch of the file at the path, whichever generation is there.
  package func watch() -> any FileWatch { fileSystem.watch(path) }

  /// What opening, or the newest `reload`, found.
  package var report: RecoveryReport { state.withLock { $0.report } }

  /// Everything that can be read as of the newest transaction that was appended or caught up with,
  /// synced or not.
  package var view: LogView { state.withLock { $0.view } }

  /// Whether a write or sync has failed, so that nothing more can be written.
  package var isPoisoned: Bool { state.withLock { $0.isPoisoned } }

  /// How many changes lie behind the newest checkpoint, or behind the base.
  package var changesSinceCheckpoint: Int {
    state.withLock { Int($0.tables.changeCount - $0.tables.changesAtCheckpoint) }
  }

  /// How many bytes of log lie behind the newest checkpoint, or behind the base.
  package var bytesSinceCheckpoint: UInt64 {
    state.withLock { $0.end.offset - min($0.tables.checkpointEnd, $0.end.offset) }
  }

  /// Whether transactions were appended that no sync has covered yet.
  package var needsSync: Bool { state.withLock { $0.synced.offset < $0.end.offset } }

  /// Reads the log anew from the file that is now at the path: after another process has put a new
  /// generation in its place, after `rewound`, or from the base because a checkpoint proved
  /// damaged. As `open`, but keeps the lock if it is held. If it throws, the log stays as it was.
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
