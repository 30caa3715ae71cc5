import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Foundation

/// One opening of an `.annals` file: all of a program's data, and its history.
///
/// Safe on any thread. One write runs at a time; reading never waits for a writer. A program that
/// just exits loses nothing acknowledged; `close()` makes the next opening faster. Two stores on
/// one file, in one process or two, take turns through the file's lock.
public final class Store: Sendable {
  package let writer: StoreWriter
  /// The clock, random numbers and process identity of this opening.
  let environment: StoreEnvironment
  /// Brings projections up to date for tasks.
  let projectionThread = LazyWorkerThread()
  /// The projections of this opening.
  let projections: KeptProjections
  /// What this opening made of the path; nil if there was a store.
  private let creation: Creation?
  /// The options that the store was opened with.
  public let options: StoreOptions
  /// The names of the migrations that the program declared; nil for an opening without a schema.
  let declaredMigrations: [String]?
  /// What this opening found wrong in the file, and could read past: the rest of a transaction that
  /// a crash cut short, an unusable root slot or checkpoint, damage if `readsUpToDamage` allows it.
  /// Notes migrations that the program does not know, or that a store opened for reading lacks.
  /// Empty for a sound file. Does not change, even when the next commit has repaired the file.
  public let findings: [StoreFinding]

  /// Opens the store at the path, or creates it, and adds to its schema what it lacks of `schema`,
  /// as a transaction of its own.
  ///
  /// An empty file counts as missing: the new store gets its mode and owner.
  ///
  /// Makes the `migrations` that the store has not made; see `Migration`. Costs these, and reading
  /// the newest checkpoint's directory and the log after it, not the history. Throws
  /// `.migrationFailed` if one failed, of which no trace remains, but those before it stay;
  /// `.invalidSchema` if the store's schema contradicts what the program needs, `.notAnAnnalsFile`,
  /// `.newerVersion`, `.damaged`, `.busy`, or `.io`. Then the file is unchanged; if it did not
  /// exist, it still does not.
  public convenience init(
    path: String, schema: Schema, migrations: [Migration] = [],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(
      .file(path), schema: schema, migrations: migrations, options: options,
      environment: environment)
  }

  /// As `init(path:schema:)`, in a file or in memory.
  public convenience init(
    _ location: StoreLocation, schema: Schema, migrations: [Migration] = [],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(
      location, creates: !options.isReadOnly, declaring: migrations.map(\.name), options: options,
      environment: environment)
    try discardingIfUnused { () throws(AnnalsError) in try adopt(schema, [], migrations) }
  }

  /// Opens an existing store at the path with its own schema; never creates one.
  ///
  /// Throws `.notFound` if no file exists, and as `init(path:schema:)` does.
  public convenience init(
    path: String, options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(.file(path), creates: false, options: options, environment: environment)
  }

  /// Opens a store; if there is none and `creates` is set, creates an empty one without a schema.
  /// `declared` names the program's migrations; nil for an opening without a schema.
  package init(
    _ location: StoreLocation, creates: Bool, declaring declared: [String]? = nil,
    options: StoreOptions = StoreOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    let log: LogFile
    let state: State
    var creation: Creation?
    do throws(LogError) {
      if creates, try Store.createIfMissing(location, environment) { creation = .ofFile }
      (log, state) = try Store.load(location, creates: creates, &creation, options, environment)
    } catch {
      throw AnnalsError(error, opening: location.path)
    }
    let version = StoreVersion(
      state: state, view: log.view, store: log.store,
      bindings: RecordBindings(DerivedFunctions(removingDiacritics: String.removingDiacritics)),
      holdsValues: options.holdsValues || !options.isReadOnly)
    self.creation = creation
    self.options = options
    self.environment = environment
    declaredMigrations = declared
    findings =
      StoreFinding.list(log.report)
      + StoreFinding.list(
        version.migrations, declared: declared, isReadOnly: options.isReadOnly)
    writer = StoreWriter(
      log: log, newest: version, options: options, now: environment.clock,
      run: location.commitRun.map(CommitRun.init(length:)))
    let projections = KeptProjections(writer, clock: environment.clock)
    self.projections = projections
    writer.projections.withLock { $0 = projections }
    if options.lockMode == .exclusive, !options.isReadOnly {
      try AnnalsError.translating { try writer.write { _ in } }
    }
  }

  /// Opens a store, runs `body` on it, and closes it, even if `body` throws.
  ///
  /// With a schema as `init(path:schema:)`; without one as `init(path:)`, which never creates.
  @discardableResult
  public static func with<R>(
    path: String, schema: Schema? = nil, migrations: [Migration] = [],
    options: StoreOptions = StoreOptions(), environment: StoreEnvironment = .system,
    _ body: (Store) throws -> R
  ) throws -> R {
    let location = StoreLocation.file(path)
    let creates = schema != nil && !options.isReadOnly
    let declared = schema.map { _ in migrations.map(\.name) }
    let store = try Store(
      location, creates: creates, declaring: declared, options: options, environment: environment)
    return try store.closing {
      if let schema {
        try store.discardingIfUnused { () throws(AnnalsError) in
          try store.adopt(schema, [], migrations)
        }
      }
      return try body(store)
    }
  }

  /// Runs `body` and closes the store, even if `body` throws.
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

  /// Closes the store: writes a checkpoint if it would save the next opening much, frees space
  /// allocated ahead, syncs, and releases the lock. Snapshots stay readable. Safe to call again.
  ///
  /// Throws `.outcomeUnknown` if the disk failed, so that commits with `.deferred` since the last
  /// sync may be lost; `.lostBranch` if an older copy was written over the file, which is then not
  /// changed. The store is closed all the same. Only inside the closure of a write it throws
  /// `.nestedWrite` and closes nothing. Does nothing in a fork of the process that opened the
  /// store.
  public func close() throws(AnnalsError) {
    guard writer.isOwned else { return }
    try writer.requireOutside()
    defer { writer.head.end() }
    try AnnalsError.translating { try writer.checkpointAndClose() }
  }

  /// Closes the store and removes its file, or leaves it empty as it was, if this opening created
  /// the store and nothing was ever recorded; otherwise does nothing. For operations that fail
  /// before they begin.
  package func discardIfUnused() {
    guard let creation, version.head.number == 0 else { return }
    writer.discardIfUnused(leavingEmpty: creation == .inEmptyFile)
  }

  /// Runs `body`; if it throws, calls `discardIfUnused`.
  func discardingIfUnused(_ body: () throws(AnnalsError) -> Void) throws(AnnalsError) {
    do throws(AnnalsError) {
      try body()
    } catch {
      discardIfUnused()
      throw error
    }
  }

  /// The file format that this engine reads and writes: `version 1`.
  public static var fileFormat: String { "version \(FormatLimits.version)" }

  // MARK: Reading

  /// The store's UUID.
  public var id: UUID { UUID(writer.log.store) }

  /// The newest version that this store has acknowledged.
  package var version: StoreVersion { writer.head.published }

  /// The state as of the newest transaction acknowledged here. O(1); never waits for a writer.
  ///
  /// Inside the closure of a write it is the state before that write. `refresh()` catches up with
  /// other processes.
  public func snapshot() -> Snapshot { version.snapshot.with(clock: environment.clock) }

  /// The position after the newest transaction acknowledged here.
  public var token: Token { version.token }

  /// The position of the oldest readable state: just before the oldest transaction kept.
  public var base: Token {
    Token(store: writer.log.store, number: version.view.base, opening: 0)
  }

  /// The schema of the newest state.
  public var schema: Schema { version.state.schema }

  /// Catches up with the commits of other processes. Writing does so by itself. As writing does,
  /// throws `.lostBranch` if the bytes of an older copy were written over the file, and
  /// `.otherStore` if another file, even an older copy, was moved to its path.
  public func refresh() throws(AnnalsError) {
    try AnnalsError.translating { try writer.refresh() }
  }

  /// Reads the bytes of a value over 4 KiB.
  public func bytes(of value: LargeValue) throws(AnnalsError) -> [UInt8] {
    Array(try LogLargeValues(version.view).bytes(of: value))
  }
}

extension Store {
  /// How an opening came to a new store.
  private enum Creation {
    case ofFile, inEmptyFile
  }

  private static func createIfMissing(
    _ location: StoreLocation, _ environment: StoreEnvironment
  ) throws(LogError) -> Bool {
    // False means that a store exists already, which is then opened.
    try LogFile.create(at: location.path, in: location.fileSystem, NewLog(environment))
  }

  /// Opens the log and reads the newest state. If `creates` is set and the file is empty, makes a
  /// new store in its place.
  private static func load(
    _ location: StoreLocation, creates: Bool, _ creation: inout Creation?,
    _ options: StoreOptions, _ environment: StoreEnvironment
  ) throws(LogError) -> (LogFile, State) {
    var replay = StateReplay(holdingValues: options.holdsValues || !options.isReadOnly)
    let log: LogFile
    do throws(LogError) {
      var recovery = try LogFile.recover(
        at: location.path, in: location.fileSystem, LogOptions(options, environment))
      try replay.run(&recovery)
      log = try LogFile(recovery)
    } catch {
      guard creates, case .header(.tooShort(0)) = error else { throw error }
      let isMade = try LogFile.create(
        inPlaceOfEmpty: location.path, in: location.fileSystem, NewLog(environment))
      if isMade { creation = .inEmptyFile }
      return try load(location, creates: false, &creation, options, environment)
    }
    return (log, try log.state(after: replay))
  }
}

extension NewLog {
  fileprivate init(_ environment: StoreEnvironment) {
    self.init(store: environment.makeUUID(), created: environment.clock())
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
