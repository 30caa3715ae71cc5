import Annals
import AnnalsFaults
import AnnalsStorage
import SystemPackage

/// Makes the operating system calls of a workload fail, one at a time. Checks the error, whether
/// the store works on or refuses to, and the state left.
package struct ErrorTrial: Sendable {
  /// A way in which calls can fail.
  package struct Failure: Sendable, CustomStringConvertible {
    let operation: StorageError.Operation
    let errno: Errno
    let effect: FaultInjection.Effect

    /// The operation, the error number, and the effect that the call has nevertheless.
    package var description: String {
      let what: String
      switch effect {
      case .none: what = "nothing done"
      case .partial(let count): what = "\(count) bytes done"
      case .complete: what = "done all the same"
      case .cacheLies: what = "the cache lies"
      case .cacheDrops: what = "the cache forgets"
      }
      return "\(operation.rawValue) \(errno.rawValue), \(what)"
    }
  }

  /// All ways that are tried.
  package static let failures: [Failure] = {
    let list: [(StorageError.Operation, Errno, [FaultInjection.Effect])] = [
      (.write, .ioError, [.none, .partial(20), .partial(600), .complete]),
      (.write, .noSpace, [.none, .partial(100)]),
      (.sync, .ioError, [.none, .complete, .cacheLies, .cacheDrops]),
      (.sync, .noSpace, [.cacheLies]),
      (.allocate, .noSpace, [.none]), (.allocate, .ioError, [.none, .complete]),
      (.truncate, .ioError, [.none, .complete]),
      (.create, .noSpace, [.none]), (.create, .permissionDenied, [.none]),
      (.place, .ioError, [.none, .complete]), (.link, .ioError, [.none, .complete]),
      (.rename, .ioError, [.none, .complete]),
      (.remove, .ioError, [.none, .complete]), (.syncDirectory, .ioError, [.none, .complete]),
      (.open, .tooManyOpenFiles, [.none]), (.open, .ioError, [.none]),
      (.size, .ioError, [.none]), (.read, .ioError, [.none]), (.lock, .noLocks, [.none]),
      (.identify, .ioError, [.none]), (.resolve, .ioError, [.none]),
    ]
    return list.flatMap { entry in
      entry.2.map { Failure(operation: entry.0, errno: entry.1, effect: $0) }
    }
  }()

  private let crash: CrashTrial
  /// The number of calls of each kind that the work makes.
  private let callCounts: [StorageError.Operation: Int]

  /// The trial of a workload. Runs it once on a disk that does not fail.
  package init(_ workload: Workload, seed: UInt64) throws {
    try self.init(CrashTrial(workload, seed: seed))
  }

  /// The trial of the workload of `crash`. Runs it once more on a disk that does not fail.
  package init(_ crash: CrashTrial) throws {
    self.crash = crash
    let session = crash.session()
    try crash.workload.work(session)
    callCounts = session.files.callCounts
  }

  /// The number of calls that can fail this way.
  package func callCount(_ failure: Failure) -> Int { callCounts[failure.operation] ?? 0 }

  /// Makes the call of this kind fail that follows `number` others. Returns false if there are
  /// fewer.
  ///
  /// - Throws: `BrokenPromise`, with the call that failed.
  package func fail(
    _ failure: Failure, at number: Int, survivors: Int = 4, _ tally: inout Tally
  ) throws -> Bool {
    let session = crash.session()
    let files = session.files
    files.inject(
      FaultInjection(failure.operation, after: number, failure.errno, effect: failure.effect))
    var thrown: (any Error)?
    do { try crash.workload.work(session) } catch { thrown = error }
    guard files.injectedCount > 0 else {
      if let thrown { throw BrokenPromise("without any failure: \(thrown)") }
      return false
    }
    tally.errors += 1
    let place = "\(failure), after \(number) others"
    do {
      try check(thrown, failure, session, &tally)
      try continueWork(session, after: thrown)
    } catch {
      throw BrokenPromise("\(place): \(error)")
    }
    let left = session.files.afterKill()
    let killed = SurvivorCheck(session.pledge, session.chronicle, afterPowerCut: false)
    try tally.check("\(place), then killed", killed, on: left, left.fingerprint, crash.checked)
    if survivors == 0 { return true }
    files.cutPower()
    let check = SurvivorCheck(session.pledge, session.chronicle, afterPowerCut: true)
    try files.forEachSurvivor(limit: survivors) { survivor in
      try tally.check(
        "\(place), then \(survivor.description)", check, on: survivor.files,
        survivor.fingerprint, crash.checked)
    }
    return true
  }

  /// Checks that the error has the right code and the error number of the system.
  private func check(
    _ thrown: (any Error)?, _ failure: Failure, _ session: WorkSession, _ tally: inout Tally
  ) throws {
    guard let thrown else {
      // The failed call was not essential.
      tally.errorsRefused += 1
      return
    }
    guard let error = thrown as? AnnalsError else {
      throw BrokenPromise("an error without a type: \(thrown)")
    }
    let refused: AnnalsError.Code =
      switch failure.errno {
      case .noSpace: .noSpace
      case .permissionDenied: .permission
      default: .io
      }
    // A failure in the background puts nothing acknowledged at risk and is not reported at once.
    // The next call then reports that the store is poisoned, and why.
    let isPoisoned = error.code == .poisoned && session.hasFailedQuietly
    let isExpected = isPoisoned || [refused, .outcomeUnknown].contains(error.code)
    guard isExpected, error.underlying == failure.errno else {
      throw BrokenPromise("an error of another kind: \(error.code): \(error)")
    }
    if error.code == .outcomeUnknown {
      tally.errorsUnknown += 1
      if failure.effect == .cacheDrops {
        // What was not synced is lost even without a power cut, and the error says so
        // (`StoreOptions.Durability.deferred`).
        session.pledge.acknowledged = session.pledge.durable
      }
    } else {
      tally.errorsRefused += 1
      session.pledge.withdraw()
    }
  }

  /// Uses the store that met the failure again. It must refuse if the outcome was unknown, and work
  /// otherwise. No other file may be left.
  private func continueWork(_ session: WorkSession, after thrown: (any Error)?) throws {
    let code = (thrown as? AnnalsError)?.code
    let isUnknown = code == .outcomeUnknown || code == .poisoned
    guard thrown != nil, let store = session.lastUsed, !store.options.isReadOnly else { return }
    if isUnknown {
      for call in [
        { try SurvivorCheck.commitOnce(store) }, { try store.sync() }, { try store.checkpoint() },
        { _ = try store.compact() },
      ] as [() throws -> Void] {
        do {
          try call()
          throw BrokenPromise("a poisoned store went on")
        } catch let error as AnnalsError {
          guard [.poisoned, .outcomeUnknown].contains(error.code) else {
            throw BrokenPromise("a poisoned store answered \(error.code): \(error)")
          }
        }
      }
      try store.close()
    } else {
      if let number = session.pledge.erasing, store.token.number == number {
        // The transaction was committed, but the erasure was not carried out.
        session.pledge.acknowledged = number
      }
      let acknowledged = session.pledge.acknowledged ?? 0
      try session.chronicle.resolveErasures(on: store)
      session.chronicle.forget(after: acknowledged)
      session.pledge.attempted = acknowledged + 1
      try SurvivorCheck.commitOnce(store)
      guard store.token.number == acknowledged + 1 else {
        throw BrokenPromise("the next commit became \(store.token.number), not \(acknowledged + 1)")
      }
      session.pledge.acknowledged = acknowledged + 1
      if store.options.durability == .full { session.pledge.durable = acknowledged + 1 }
      try session.chronicle.read(store, after: acknowledged)
    }
    let strays = session.files.paths.filter { $0.hasSuffix(".new") || $0.hasSuffix(".base") }
    guard strays.isEmpty else { throw BrokenPromise("left behind: \(strays)") }
  }
}
