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
/// … `commit`, `catchUp`, `recover`, `adopt`, `writeCheckpoint`, `close`) come from one thread at a
/// time. `sync` comes from one thread at a time; it may overlap with another thread's `begin` …
/// `commit` or `abort`, and with no other call of a writer.
package final class LogFile: Sendable {
  /// The path, with all symbolic links followed.
  package let path: String
  /// The store's identity.
  package let store: RawUUID
  package let fileSystem: any FileSystem
  let options: LogOptions
  /// The opening that its own transactions name; nil if it is open for reading.
  package var ownOpening: Opening? { options.opening }
  let state: Locked<LogState>

  /// The log that was read by a recovery which has reached its end. Throws `newerWriter` if the
  /// options ask for writing and the file must not be written to.
  package init(_ recovery: LogRecovery) throws(LogError) {
    path = recovery.path
    fileSystem = recovery.fileSystem
    options = recovery.options
    store = recovery.loading.generation.header.store
    state = Locked(try LogState(recovery.loading, recovery.options))
  }

  /// Opens the file at `path` and finds the end of its log: the first half of opening it. Writes
  /// nothing and takes no lock.
  ///
  /// Throws as `LogRecovery.next(into:)` does; `missing` if there is no file, and `newerWriter` if
  /// the options ask for writing and the file must not be written to.
  package static func recover(
    at path: String, in fileSystem: any FileSystem, _ options: LogOptions
  ) throws(LogError) -> LogRecovery {
    precondition(
      options.access == .reading || !options.readsUpToDamage, "writing never proceeds past damage")
    let resolved = try wrapping { try fileSystem.resolve(path) }
    let generation = try openGeneration(at: resolved, in: fileSystem, options)
    return try LogRecovery(
      of: generation, at: resolved, in: fileSystem, options, from: .newest,
      mayLookAgain: options.access == .writing)
  }

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

  /// Runs `body` on the state, under the mutex. Throws `closed` and `poisoned` as well.
  func withOpenState<R>(
    _ body: (inout LogState) throws(LogError) -> R
  ) throws(LogError) -> R {
    try state.withLock { (state) throws(LogError) in
      try state.requireOpen()
      return try body(&state)
    }
  }

  /// The findings of the opening, or of the newest recovery adopted.
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

  /// Begins to read the log again from the file that is now at the path: after another process has
  /// replaced it by a new generation, after `rewound`, or from the base because a checkpoint proved
  /// damaged. As `recover(at:in:_:)`, but keeps the lock if it is held. The log stays as it is
  /// until it adopts the recovery.
  package func recover(from choice: StartChoice = .newest) throws(LogError) -> LogRecovery {
    let generation = try withOpenState { (state) throws(LogError) in
      precondition(state.transaction == nil, "a transaction is open")
      return state.replacement ?? state.generation
    }
    return try LogRecovery(
      of: generation, at: path, in: fileSystem, options, from: choice, mayLookAgain: false)
  }

  /// Goes on from where a recovery of this log has ended. If it throws, the log stays as it was.
  package func adopt(_ recovery: LogRecovery) throws(LogError) {
    let options = options
    try state.withLock { (state) throws(LogError) in
      let wasLocked = state.isLocked
      let old = state.generation
      let advances = state.advances
      state = try LogState(recovery.loading, options)
      state.advances = advances
      state.isLocked = wasLocked
      if wasLocked, old !== recovery.loading.generation { old.file.unlock() }
    }
  }
}

extension LogFile {
  /// Runs `body` on the bytes of the file at the path, opened again for reading. `isLocked` says
  /// whether no writer can be at work meanwhile: waits a moment for one to end, then goes on
  /// without the lock. If no file is at the path any more, uses the one that is open.
  ///
  /// Throws `StorageError` if the file cannot be opened, and what `body` throws.
  package func withBytes<R>(
    _ body: (_ file: any StorageFile, _ isLocked: Bool) throws -> R
  ) throws -> R {
    let (own, isLockedHere) = state.withLock { ($0.generation.file, $0.isLocked) }
    var found: (any StorageFile)?
    do throws(StorageError) {
      found = try fileSystem.open(path, for: .reading)
    } catch {
      guard error.isMissing else { throw error }
    }
    guard let file = found else { return try body(own, false) }
    defer { file.close() }
    // A lock that this log holds itself would be awaited in vain.
    if isLockedHere { return try body(file, false) }
    let isLocked = try file.lock(.shared, wait: .until(.now + .seconds(2)))
    return try body(file, isLocked)
  }
}
