import Annals
import AnnalsFaults
import AnnalsStorage

/// Makes one operating system call fail while two stores on one file take turns, like two
/// processes. Checks that nothing that either acknowledged is lost or changed.
///
/// The seed determines the turns: commits, some while the other store reads, syncs, checkpoints,
/// compactions, reopenings. A store whose outcome is unknown is reopened before its next turn; the
/// other one continues.
package struct PairTrial: Sendable {
  /// The name in tables and on the command line.
  package let name: String
  private let durabilities: [StoreOptions.Durability]
  private let steps: [Step]
  private let seed: UInt64
  private var callCounts: [StorageError.Operation: Int] = [:]

  /// A turn of one store.
  fileprivate enum Step {
    case commit(Int)
    /// A commit during whose sync the other store refreshes.
    case watchedCommit(Int)
    case refresh(Int)
    case sync(Int)
    case checkpoint(Int)
    case compact(Int)
    case reopen(Int)

    /// A random turn of one of two stores.
    static func random(using numbers: inout SeededNumbers) -> Step {
      let store = Int.random(in: 0...1, using: &numbers)
      switch Int.random(in: 0..<20, using: &numbers) {
      case 0..<6: return .commit(store)
      case 6..<10: return .watchedCommit(store)
      case 10..<14: return .refresh(store)
      case 14..<16: return .sync(store)
      case 16: return .checkpoint(store)
      case 17: return .compact(store)
      default: return .reopen(store)
      }
    }
  }

  /// The names of all pairs.
  package static let names = ["pair", "pair-deferred", "pair-mixed"]

  /// A pair with a number of turns. Runs them once on a disk that does not fail.
  ///
  /// - Throws: what the work throws; it should not throw.
  package init(_ name: String, turns: Int = 16, seed: UInt64) throws {
    self.name = name
    self.seed = seed
    durabilities =
      switch name {
      case "pair-deferred": [.deferred, .deferred]
      case "pair-mixed": [.deferred, .full]
      default: [.full, .full]
      }
    var numbers = SeededNumbers(seed: seed, name)
    steps = (0..<turns).map { _ in Step.random(using: &numbers) }
    let run = PairRun(durabilities, seed: seed)
    try run.work(steps)
    callCounts = run.files.callCounts
  }

  /// The number of calls that can fail this way.
  package func callCount(_ failure: ErrorTrial.Failure) -> Int {
    callCounts[failure.operation] ?? 0
  }

  /// Makes the call of this kind fail that follows `number` others. Returns false if there are
  /// fewer.
  ///
  /// - Throws: `BrokenPromise`, with the call that failed.
  package func fail(
    _ failure: ErrorTrial.Failure, at number: Int, survivors: Int = 4, _ tally: inout Tally
  ) throws -> Bool {
    let run = PairRun(durabilities, seed: seed)
    run.fail(failure, at: number)
    let place = "\(failure), after \(number) others"
    do {
      try run.work(steps)
    } catch {
      throw BrokenPromise("\(place): \(error)")
    }
    guard run.files.injectedCount > 0 else { return false }
    tally.errors += 1
    if run.hasUnknown { tally.errorsUnknown += 1 } else { tally.errorsRefused += 1 }
    let isEmpty = run.ledger.acknowledged.isEmpty
    try tally.check("\(place), then killed") {
      try run.ledger.check(run.files.afterKill(), mayBeGone: isEmpty)
    }
    if survivors == 0 { return true }
    run.files.cutPower()
    try run.files.forEachSurvivor(limit: survivors) { survivor in
      try tally.check("\(place), then \(survivor.description)") {
        try run.ledger.check(
          survivor.files, upTo: run.durable, mayBeGone: isEmpty || run.durable == 0)
      }
    }
    return true
  }
}

/// One run of a pair.
private final class PairRun {
  let files: FaultyFileSystem
  private(set) var ledger = NoteLedger()
  /// The last transaction that must survive a power cut.
  private(set) var durable: Int64 = 0
  /// Whether the outcome of a call was unknown.
  private(set) var hasUnknown = false
  private let durabilities: [StoreOptions.Durability]
  private let seed: UInt64
  private var stores: [Store?] = [nil, nil]
  private var openingCount: UInt64 = 0
  private var noteCount = 0
  private var effect = FaultInjection.Effect.none

  init(_ durabilities: [StoreOptions.Durability], seed: UInt64) {
    self.durabilities = durabilities
    self.seed = seed
    files = FaultyFileSystem(seed: seed)
  }

  func fail(_ failure: ErrorTrial.Failure, at number: Int) {
    effect = failure.effect
    files.tellsEveryFile = true
    files.inject(
      FaultInjection(failure.operation, after: number, failure.errno, effect: failure.effect))
  }

  func work(_ steps: [PairTrial.Step]) throws {
    for step in steps { try runTurn(step) }
  }

  /// Runs a turn. It may throw only if a call failed in it, or earlier in the same store
  /// unreported.
  private func runTurn(_ step: PairTrial.Step) throws {
    let failureCount = files.injectedCount
    defer {
      if files.injectedCount > failureCount, effect == .cacheDrops {
        // What was not synced is lost even without a power cut, and the error says so
        // (`StoreOptions.Durability.deferred`).
        ledger.acknowledged = ledger.acknowledged.filter { $0.key <= durable }
      }
    }
    let number = step.store
    do {
      try perform(step, on: store(number), number)
    } catch let error as AnnalsError {
      let isTold = effect == .cacheLies || effect == .cacheDrops
      let mayFail =
        files.injectedCount > failureCount || files.injectedCount > 0 && isTold
        || error.code == .poisoned
      guard mayFail, error.code != .damaged else {
        throw BrokenPromise("store \(number), in another's trouble: \(error.code): \(error)")
      }
      guard [.outcomeUnknown, .poisoned].contains(error.code) else { return }
      hasUnknown = true
      try? stores[number]?.close()
      stores[number] = nil
    }
  }

  private func store(_ number: Int) throws -> Store {
    if let store = stores[number] { return store }
    openingCount += 1
    var options = StoreOptions()
    options.durability = durabilities[number]
    let store = try Store(
      files.location(), schema: Note.schema,
      options: options, environment: WorkSession.environment(seed &* 16 &+ openingCount))
    stores[number] = store
    return store
  }

  private func perform(_ step: PairTrial.Step, on store: Store, _ number: Int) throws {
    switch step {
    case .commit: try commit(to: store, number)
    case .watchedCommit:
      if let other = stores[1 - number] { files.duringNextSync { try? other.refresh() } }
      defer { files.duringNextSync {} }
      try commit(to: store, number)
    case .refresh: try store.refresh()
    case .sync:
      let head = store.token.number
      try store.sync()
      durable = max(durable, head)
    case .checkpoint:
      let head = store.token.number
      try store.checkpoint()
      durable = max(durable, head)
    case .compact: _ = try store.compact()
    case .reopen:
      let head = store.token.number
      stores[number] = nil
      try store.close()
      durable = max(durable, head)
      _ = try self.store(number)
    }
  }

  private func commit(to store: Store, _ number: Int) throws {
    noteCount += 1
    let id = "\(number) \(noteCount)"
    do {
      let place = try NoteLedger.commit(id, to: store)
      ledger.acknowledged[place] = id
      if durabilities[number] == .full { durable = max(durable, place) }
    } catch let error as AnnalsError {
      if error.code != .outcomeUnknown { ledger.refused.insert(id) }
      throw error
    }
  }
}

extension PairTrial.Step {
  /// The number of the store whose turn it is.
  fileprivate var store: Int {
    switch self {
    case .commit(let store), .watchedCommit(let store), .refresh(let store), .sync(let store),
      .checkpoint(let store), .compact(let store), .reopen(let store):
      store
    }
  }
}
