import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage

extension Replica {
  /// Opens a replica of the log's store at the path, and brings it up to date.
  ///
  /// If there is no file, it starts from the newest snapshot in the log, or from the log's first
  /// record; if the log is empty, with a new store. A file is checked against the log: a store of
  /// its own is refused, and so is one from which the log has gone another way, unless
  /// `ReplicaOptions.onBranch` says that it is kept beside. A log that lost its tail gets it back.
  ///
  /// Then makes the `migrations` that the store has not made, and adds to its schema what it lacks
  /// of these record types, as transactions of the log. A file that is a replica opens without the
  /// log, too, if nothing of that is needed: to be read, once the deadline has passed.
  ///
  /// - Throws: `ReplicationError` as `catchUp()`, and `.notAReplica`; and as `Store.init` and
  ///   `write`. What was made of the file stays, and goes on with the next opening.
  public static func open(
    path: String, records: any Record.Type..., log: any SharedLog, migrations: [Migration] = [],
    options: ReplicaOptions = ReplicaOptions(), environment: StoreEnvironment = .system
  ) async throws -> Replica {
    try await open(
      .file(path), ReplicaSchema(records: records, migrations), log, options, environment)
  }

  /// As `open(path:records:)`, in a file or in memory.
  public static func open(
    _ location: StoreLocation, records: any Record.Type..., log: any SharedLog,
    migrations: [Migration] = [], options: ReplicaOptions = ReplicaOptions(),
    environment: StoreEnvironment = .system
  ) async throws -> Replica {
    try await open(
      location, ReplicaSchema(records: records, migrations), log, options, environment)
  }

  /// As `open(path:records:)`, with a schema by names.
  public static func open(
    path: String, schema: Schema, log: any SharedLog, migrations: [Migration] = [],
    options: ReplicaOptions = ReplicaOptions(), environment: StoreEnvironment = .system
  ) async throws -> Replica {
    try await open(.file(path), ReplicaSchema(schema, migrations), log, options, environment)
  }

  /// As `open(path:records:)`, with a schema by names, in a file or in memory.
  public static func open(
    _ location: StoreLocation, schema: Schema, log: any SharedLog, migrations: [Migration] = [],
    options: ReplicaOptions = ReplicaOptions(), environment: StoreEnvironment = .system
  ) async throws -> Replica {
    try await open(location, ReplicaSchema(schema, migrations), log, options, environment)
  }

  private static func open(
    _ location: StoreLocation, _ needed: ReplicaSchema, _ log: any SharedLog,
    _ options: ReplicaOptions, _ environment: StoreEnvironment
  ) async throws -> Replica {
    var location = location
    location.path = (try? location.fileSystem.resolve(location.path)) ?? location.path
    let file = ReplicaFile(
      location: location, log: PatientLog(shared: log, deadline: options.deadline),
      options: options, environment: environment)
    var tries = 3
    while true {
      try await file.make()
      let identity = try file.identity()
      let replica = try Replica(file, needed)
      do {
        try await replica.start(needed)
        return replica
      } catch {
        let isUnused = replica.store.token.number == 0
        tries -= 1
        let departure =
          tries > 0 ? try? await replica.departure(after: error, identity, of: file) : nil
        try? await replica.close()
        if let departure {
          try await file.leave(departure)
          continue
        }
        // Two began the log at once, and this file is the one that lost: nothing is in it.
        guard isUnused, tries > 0, let error = error as? ReplicationError,
          error.code == .otherStore
        else { throw error }
        try file.remove()
      }
    }
  }

  private convenience init(_ file: ReplicaFile, _ needed: ReplicaSchema) throws {
    var options = file.options.store
    options.isReadOnly = false
    let store = try Store(
      file.location, creates: false, declaring: needed.migrations.map(\.name), options: options,
      environment: file.environment)
    store.writer.followSharedLog()
    let version = store.version
    self.init(
      store, log: file.log, at: try version.newestPlace() ?? version.origin, file.options,
      file.environment)
    let list = BranchList(fileSystem: file.location.fileSystem, path: file.location.path)
    let branches = try list.read()
    content.withLock { $0.leftBranches = branches }
  }

  /// Checks the file against the log, and brings it up to date.
  private func start(_ needed: ReplicaSchema) async throws {
    try await forgetOthersConsumers()
    let version = store.version
    let isNew = version.head.number == 0
    let isReplica = try version.newestPlace() != nil
    if version.view.features.contains(.erasure) {
      let unfinished = try await blocking { try version.unfinishedErasures() }
      content.withLock { content in
        content.unfinished = unfinished.map { ($0.erasure, $0.number) }
      }
    }
    do {
      try await turn.run {
        var retries = Retries(options, environment)
        try await requireSameStore(&retries)
        if !isNew, !isReplica { try await requireOrigin(&retries) }
        await renewRegistration(&retries)
        try await catchUp(&retries)
        if !options.follows { await renewRegistration(&retries) }
      }
    } catch let error as ReplicationError where error.code == .unavailable && isReplica {
      // To be read as it is, and brought up to date later.
    }
    try await adopt(needed)
    if store.token.number == 0 { try await shareOrigin() }
    if options.follows {
      startFollowing()
      startGivingWay()
      startPulse()
      startKeeping()
    }
    startRegistering()
    await resumeOutbox()
  }

  /// Throws `.notAReplica` for a store with a history of its own, unless the log began with it, or
  /// begins with it now.
  private func requireOrigin(_ retries: inout Retries) async throws {
    let place = try currentOrigin()
    let snapshots = try await log.snapshots(&retries)
    if snapshots.contains(where: { $0.details.place == place }) { return }
    let page = try await log.page(at: 1, &retries)
    if let first = page.records.first(where: { $0.sequence == 1 }) {
      // The snapshot may be gone; the first record says what it follows on.
      let transaction = try await log.transaction(in: first.record, &retries)
      if transaction.store == store.version.store, transaction.previous == place.digest { return }
    }
    guard options.startsLog, snapshots.isEmpty, page.last == 0 else {
      throw ReplicationError.notFromLog(store.version)
    }
    _ = try await putSnapshot(knowing: place)
  }

  /// Puts this store, in which nothing was recorded yet, into a log in which nothing was either, so
  /// that replicas that come before the first transaction are of the same store. Throws
  /// `.otherStore` if another one did so meanwhile.
  private func shareOrigin() async throws {
    do {
      var retries = Retries(options, environment)
      let found = try await log.asking(&retries) { log throws(SharedLogError) in
        try await log.store()
      }
      guard found == nil else { return }
      _ = try await putSnapshot(knowing: currentOrigin())
      try await requireSameStore(&retries)
    } catch let error as ReplicationError where error.code == .unavailable {
      // The next opening does it, or the first transaction.
    }
  }

  private func currentOrigin() throws -> ReplicaPlace { content.withLock { $0.place } }
}
