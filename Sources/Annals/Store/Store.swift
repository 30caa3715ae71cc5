import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Foundation

/// One opening of one `.annals` file: the whole of a program's data, and its history.
///
/// Safe on any thread at once. Writing is one at a time; reading never waits for a writer. A
/// program that just exits loses nothing that was acknowledged; `close()` makes the next opening
/// faster. Two stores on one file, in one process or two, take turns through the file's lock.
public final class Store: Sendable {
  package let writer: StoreWriter
  /// What the store takes from the world besides its file.
  let environment: StoreEnvironment
  let writingThread = LazyWorkerThread()
  /// The projections that this opening keeps.
  let projections: KeptProjections
  /// Whether this very opening made the file.
  private let hasMadeFile: Bool
  /// What the store was opened with.
  public let options: StoreOptions
  /// What this opening found out of order, and read past: the rest of a transaction that a crash
  /// cut short, a root slot or checkpoint that cannot be used, damage where `readsUpToDamage`
  /// allowed to read up to it. Empty for a file in order. Stays as it was, also when the next
  /// commit has put the file right.
  public let findings: [StoreFinding]

  /// Opens the store at the path, creating it if there is none, and adds to its schema what is
  /// missing of `schema`, as a transaction of its own.
  ///
  /// Opening costs what the newest checkpoint's directory and the log behind it cost, not what the
  /// history does. Throws `.invalidSchema` if the store's schema cannot hold what the program
  /// needs, `.notAnAnnalsFile`, `.newerVersion`, `.damaged`, `.busy`, or `.io`; the file stays as
  /// it was, and if there was none, there is none.
  public convenience init(
    path: String, schema: Schema, options: StoreOptions = StoreOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(.file(path), schema: schema, options: options, environment: environment)
  }

  /// As `init(path:schema:)`, at a file or in memory.
  public convenience init(
    _ location: StoreLocation, schema: Schema, options: StoreOptions = StoreOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(
      location, creates: !options.isReadOnly, options: options, environment: environment)
    try discardingIfUnused { () throws(AnnalsError) in try require(schema) }
  }

  /// Opens the store at the path with the schema that it has; never creates one.
  ///
  /// Throws `.notFound` if there is no file, and as `init(path:schema:)` does.
  public convenience init(
    path: String, options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(.file(path), creates: false, options: options, environment: environment)
  }

  /// Opens a store, or creates an empty one without a schema if there is none and `creates` says
  /// so.
  package init(
    _ location: StoreLocation, creates: Bool, options: StoreOptions = StoreOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    let log: LogFile
    let state: State
    let hasMadeFile: Bool
    do throws(LogError) {
      hasMadeFile = creates ? try Store.createIfMissing(location, environment) : false
      var replay = StateReplay(holdingValues: options.holdsValues || !options.isReadOnly)
      log = try LogFile.open(
        at: location.path, in: location.fileSystem, LogOptions(options, environment),
        restore: { try replay.restore($0) }, apply: { try replay.apply(&$0) })
      state = try log.state(after: replay)
    } catch {
      throw AnnalsError(error, opening: location.path)
    }
    let version = StoreVersion(
      state: state, view: log.view, store: log.store, bindings: RecordBindings(),
      holdsValues: options.holdsValues || !options.isReadOnly)
    self.hasMadeFile = hasMadeFile
    self.options = options
    self.environment = environment
    findings = StoreFinding.list(log.report)
    writer = StoreWriter(
      log: log, newest: version, options: options, now: environment.clock,
      run: location.commitRun.map(CommitRun.init(length:)))
    let projections = KeptProjections(writer, clock: environment.clock)
    self.projections = projections
    writer.projections.withLock { $0 = projections }
    if options.lockMode == .exclusive, !options.isReadOnly {
      try AnnalsError.narrowing { try writer.write { _ in } }
    }
  }

  /// Opens a store, runs `body` on it, and closes it, also if `body` throws.
  ///
  /// With a schema as `init(path:schema:)`, without one as `init(path:)`, which never creates.
  @discardableResult
  public static func with<R>(
    path: String, schema: Schema? = nil, options: StoreOptions = StoreOptions(),
    environment: StoreEnvironment = .system, _ body: (Store) throws -> R
  ) throws -> R {
    let location = StoreLocation.file(path)
    let creates = schema != nil && !options.isReadOnly
    let store = try Store(location, creates: creates, options: options, environment: environment)
    return try store.closing {
      if let schema {
        try store.discardingIfUnused { () throws(AnnalsError) in try store.require(schema) }
      }
      return try body(store)
    }
  }

  /// Runs `body` and closes the store, also if `body` throws.
  func closing<R>(_ body: () throws -> R) throws -> R {
    let result: R
    do {
      result = try body()
    } catch {
      try? close()
      throw error
    }
    try close()
    return result
  }

  /// Ends the opening: writes a checkpoint if it would save the next opening much, gives back space
  /// allocated ahead, syncs, and lets go of the lock. Snapshots stay readable. Safe to call again.
  ///
  /// Throws `.outcomeUnknown` if the disk failed, so that what was committed with `.deferred` since
  /// the last sync may be gone; `.lostBranch` if an older copy was written over the file, which
  /// stays as it is. The store is closed all the same.
  public func close() throws(AnnalsError) {
    defer { writer.head.end() }
    try AnnalsError.narrowing { try writer.checkpointAndClose() }
  }

  /// Closes the store and removes its file, if this very opening has made it and nothing was ever
  /// recorded in it; otherwise does nothing. For what failed before it had begun.
  package func discardIfUnused() {
    guard hasMadeFile, version.head.number == 0 else { return }
    writer.discardIfUnused()
  }

  /// Runs `body`; if it throws, `discardIfUnused`.
  func discardingIfUnused(_ body: () throws(AnnalsError) -> Void) throws(AnnalsError) {
    do throws(AnnalsError) {
      try body()
    } catch {
      discardIfUnused()
      throw error
    }
  }

  /// The format of the files that this engine reads and writes: `draft 2`, say, or `version 1`.
  public static var fileFormat: String {
    let version = FormatLimits.version
    return version == 0 ? "draft \(FormatLimits.draft)" : "version \(version)"
  }

  // MARK: Reading

  /// The store's UUID.
  public var id: UUID { UUID(writer.log.store) }

  /// The newest version that this store has acknowledged.
  package var version: StoreVersion { writer.head.published }

  /// The state as of the newest transaction acknowledged here. O(1); never waits for a writer.
  ///
  /// Within the closure of a write it is the state before that write. `refresh()` brings in what
  /// other processes have committed.
  public func snapshot() -> Snapshot { version.snapshot.with(clock: environment.clock) }

  /// The position after the newest transaction acknowledged here.
  public var token: Token { version.token }

  /// The position of the oldest state that can be read: that before the oldest transaction kept.
  public var base: Token {
    Token(store: writer.log.store, number: version.view.base, opening: 0)
  }

  /// The schema of the newest state.
  public var schema: Schema { version.state.schema }

  /// Brings in what other processes have committed since. Writing does so by itself. Throws
  /// `.lostBranch` if an older copy was written over the file, as writing does.
  public func refresh() throws(AnnalsError) {
    try AnnalsError.narrowing { try writer.refresh() }
  }

  /// The bytes of a value over 4 KiB that history mentions.
  public func bytes(of value: LargeValue) throws(AnnalsError) -> [UInt8] {
    Array(try LogLargeValues(version.view).bytes(of: value))
  }
}

extension Store {
  private static func createIfMissing(
    _ location: StoreLocation, _ environment: StoreEnvironment
  ) throws(LogError) -> Bool {
    // False means that there is a store already, which is opened then.
    try LogFile.create(
      at: location.path, in: location.fileSystem,
      NewLog(store: environment.makeUUID(), created: environment.clock()))
  }
}

extension LogOptions {
  fileprivate init(_ options: StoreOptions, _ environment: StoreEnvironment) {
    self.init(
      access: options.isReadOnly ? .reading : .writing,
      durability: options.durability == .full ? .full : .deferred,
      readsUpToDamage: options.isReadOnly && options.readsUpToDamage,
      opening: options.isReadOnly
        ? nil
        : Opening(
          number: 0, id: environment.makeOpeningID(), processName: environment.processName,
          processID: environment.processID))
  }
}
