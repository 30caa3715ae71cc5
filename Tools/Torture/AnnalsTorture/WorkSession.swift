import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage

/// One run of a workload on a disk that may fail. Performs its operations and keeps the pledge up
/// to date. The seed alone determines what it does.
///
/// Any call may throw an error of the disk; the pledge then says what was under way.
package final class WorkSession {
  /// The path of the store.
  package static let path = "/store.annals"

  /// The disk.
  package let files: FaultyFileSystem
  /// The store's promises so far.
  package internal(set) var pledge: Pledge
  /// The expected past of the store. Grows only in a rehearsal.
  package internal(set) var chronicle: Chronicle
  /// The store used last; nil if it was being opened or closed.
  package internal(set) var lastUsed: Store?
  /// Random numbers for the workload.
  package var random: SeededNumbers

  /// Whether an injected failure was not reported by the call that met it: while an aborted
  /// transaction was undone, while a checkpoint was written after a commit, or while a consumer's
  /// position was written.
  package private(set) var hasFailedQuietly = false

  private let isRehearsing: Bool
  private let seed: UInt64
  private var openingCount: UInt64 = 0

  /// A session on a disk with earlier promises and an earlier chronicle. In a rehearsal every
  /// commit is read back at once, for comparison with later runs.
  package init(
    _ files: FaultyFileSystem, seed: UInt64, isRehearsing: Bool, pledge: Pledge = Pledge(),
    chronicle: Chronicle = Chronicle()
  ) {
    self.files = files
    self.seed = seed
    self.isRehearsing = isRehearsing
    self.pledge = pledge
    self.chronicle = chronicle
    random = SeededNumbers(seed: seed)
  }

  /// The location of the store.
  package var location: StoreLocation { files.location() }

  /// The environment of one opening, different for each.
  static func environment(_ number: UInt64) -> StoreEnvironment {
    let start = Timestamp(microseconds: 1_700_000_000_000_000 + Int64(number % 1000) * 50_000_000)
    return .fixed(
      start: start, seed: number, processName: "torture", processID: Int64(number % 90_000))
  }

  // MARK: Operations of workloads

  /// Opens the store, or creates it.
  package func open(_ options: StoreOptions = StoreOptions()) throws -> Store {
    openingCount += 1
    lastUsed = nil
    let isNew = pledge.acknowledged == nil
    if isNew { pledge.attempted = 1 }
    let environment = WorkSession.environment(seed &* 16 &+ openingCount)
    let store: Store
    if isNew {
      store = try Store(
        location, schema: Note.schema, options: options, environment: environment)
    } else {
      store = try Store(location, creates: false, options: options, environment: environment)
    }
    if isNew {
      pledge.durable = 0
      try acknowledge(1, store)
    }
    return store
  }

  /// Commits one transaction.
  package func commit(
    _ store: Store, author: String = "ann", group: String? = nil,
    _ body: (WriteTransaction) throws -> Void
  ) throws {
    try commit(store) { store in
      try store.commit(author: author, context: "torture", group: group, body).token
    }
  }

  /// Commits one transaction by a call that returns the position after it.
  private func commit(_ store: Store, _ call: (Store) throws -> Token) throws {
    lastUsed = store
    pledge.attempted = (pledge.acknowledged ?? 0) + 1
    let failureCount = files.injectedCount
    let token = try call(store)
    noteQuietFailure(since: failureCount)
    try acknowledge(token.number, store)
  }

  /// Commits one transaction by a call that the store may refuse with one of some codes. Returns
  /// whether it did not.
  @discardableResult
  package func commit(
    _ store: Store, unless codes: [AnnalsError.Code], _ call: (Store) throws -> Token
  ) throws -> Bool {
    do {
      try commit(store, call)
      return true
    } catch let error as AnnalsError where codes.contains(error.code) {
      pledge.attempted = pledge.acknowledged ?? 0
      return false
    }
  }

  /// Extends or edits the schema in a transaction of its own.
  package func evolve(_ store: Store, _ schema: Schema, _ edits: SchemaEdit...) throws {
    try commit(store, author: "evolution") { try $0.require(schema, edits: edits) }
  }

  /// Opens the store with a migration that it has not made: a transaction.
  package func open(migrating migration: Migration, to schema: Schema) throws -> Store {
    openingCount += 1
    lastUsed = nil
    pledge.attempted = (pledge.acknowledged ?? 0) + 1
    let failureCount = files.injectedCount
    let store = try Store(
      location, schema: schema, migrations: [migration],
      environment: WorkSession.environment(seed &* 16 &+ openingCount))
    noteQuietFailure(since: failureCount)
    try acknowledge(store.token.number, store)
    return store
  }

  /// Runs a transaction whose closure throws in the middle.
  package func abort(_ store: Store, _ body: (WriteTransaction) throws -> Void) throws {
    struct Aborted: Error {}
    lastUsed = store
    var failureCount = files.injectedCount
    do {
      try store.write { tx in
        try body(tx)
        failureCount = files.injectedCount
        throw Aborted()
      }
    } catch is Aborted {
      noteQuietFailure(since: failureCount)
    }
  }

  /// Makes everything acknowledged durable.
  package func sync(_ store: Store) throws {
    lastUsed = store
    try store.sync()
    pledge.durable = pledge.acknowledged
  }

  /// Writes a checkpoint.
  package func checkpoint(_ store: Store) throws {
    lastUsed = store
    try store.checkpoint()
    pledge.durable = pledge.acknowledged
  }

  /// Notes a failure since `count` injections that the call did not report.
  func noteQuietFailure(since count: Int) {
    if files.injectedCount > count { hasFailedQuietly = true }
  }

  /// Erases the first note, or one of its properties.
  package func erase(_ store: Store, property: String? = nil) throws {
    lastUsed = store
    guard let note = try store.snapshot().objects(of: "Note").first?.objectID else { return }
    let number = (pledge.acknowledged ?? 0) + 1
    pledge.attempted = number
    pledge.erasing = number
    let failureCount = files.injectedCount
    if let property {
      try store.erase(note, properties: [property], reason: "torture", author: "ann")
    } else {
      try store.erase(note, reason: "torture", author: "ann")
    }
    noteQuietFailure(since: failureCount)
    pledge.erasing = nil
    pledge.erasures += 1
    pledge.acknowledged = number
    pledge.durable = number
    if isRehearsing { try chronicle.readErased(store) }
  }

  /// Drops the history before a transaction.
  package func prune(_ store: Store, before number: Int64, force: Bool = false) throws {
    lastUsed = store
    let plan = try store.prunePlan(before: number)
    pledge.attemptedBase = number - 1
    if force { pledge.consumers.forcedBases.insert(number - 1) }
    try store.prune(plan, author: "ann", force: force)
    pledge.base = number - 1
    pledge.attemptedBase = nil
    pledge.durable = pledge.acknowledged
  }

  /// Compacts the store, after a checkpoint unless `smallest`.
  package func compact(_ store: Store, smallest: Bool = false) throws {
    lastUsed = store
    if !smallest { try store.checkpoint() }
    let summary = try store.compact(smallest: smallest)
    if summary.isRewritten { pledge.durable = pledge.acknowledged }
  }

  /// Writes another store as of a transaction.
  package func replay(_ store: Store, to path: String, at number: Int64, flatten: Bool) throws {
    lastUsed = store
    pledge.copies[path] = Pledge.Copy(number: number, isFlat: flatten)
    try store.replay(to: path, at: number, flatten: flatten)
    pledge.copies[path]?.isAcknowledged = true
  }

  /// Copies the store.
  package func backUp(_ store: Store, to path: String) throws {
    lastUsed = store
    pledge.copies[path] = Pledge.Copy(number: store.token.number, isFlat: false)
    try store.backup(to: path)
    pledge.copies[path]?.isAcknowledged = true
  }

  /// Salvages the closed store into another one.
  package func salvage(to path: String) throws {
    lastUsed = nil
    pledge.copies[path] = Pledge.Copy(number: pledge.acknowledged ?? 0, isFlat: false)
    let report = try Store.salvage(
      location, to: path, environment: WorkSession.environment(seed &* 16 &+ 15))
    guard report.isComplete || files.injectedCount > 0 else {
      throw BrokenPromise("a salvage found damage: \(report.lines())")
    }
    pledge.copies[path]?.isAcknowledged = true
    pledge.copies[path]?.isPartial = !report.isComplete
  }

  /// Creates the store with a base, as the import of a pruned store's export does.
  package func create(base: Int64) throws {
    lastUsed = nil
    if isRehearsing {
      // After an interruption, a store without a base may be created in its place.
      try chronicle.read(Store(.memory, creates: true), after: 0)
    }
    pledge.attempted = base
    pledge.attemptedBase = base
    try Store.create(
      location, base: base, timestamp: Timestamp(microseconds: 1_600_000_000_000_000),
      environment: WorkSession.environment(seed &* 16 &+ 14)
    ) { tx in
      try tx.require(Note.schema)
      for length in [20, 9_000] { try WorkSession.insertNote(tx, text: random.text(length)) }
    }
    pledge.base = base
    pledge.attemptedBase = nil
    pledge.acknowledged = base
    pledge.durable = base
    if isRehearsing {
      try chronicle.read(Store(location, creates: false, options: .readOnly), after: base)
    }
  }

  /// Closes the store.
  package func close(_ store: Store) throws {
    lastUsed = nil
    try store.close()
    pledge.durable = pledge.acknowledged
  }

  /// Notes that everything was synced, though it was not: to see a check fail.
  package func pretendSynced() {
    pledge.durable = pledge.acknowledged
  }

  private func acknowledge(_ number: Int64, _ store: Store) throws {
    let before = pledge.acknowledged ?? 0
    pledge.acknowledged = number
    pledge.attempted = max(pledge.attempted, number)
    if store.options.durability == .full {
      pledge.durable = number
      pledge.consumers.markSynced()
    }
    if isRehearsing { try chronicle.read(store, after: before) }
  }
}
