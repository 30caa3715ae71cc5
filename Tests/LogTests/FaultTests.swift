import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import SystemPackage
import Testing

@testable import AnnalsLog

/// Lets single calls to the operating system fail, and checks what is said and what is left.
struct FaultTests {
  private final class Witness {
    var states: [Int64: Titles] = [0: Titles()]
    var acknowledged: Int64 = 0
  }

  /// Commits, a checkpoint, a rewrite, a close.
  private func work(_ files: FaultyFileSystem, _ witness: Witness) throws {
    let lab = try LogLab(files)
    lab.willAppend = { witness.states[$0.number] = $0 }
    for number in 1...12 {
      try lab.commit([(Int64(number % 3 + 1), "a title of some length in transaction \(number)")])
      witness.acknowledged = lab.state.number
    }
    try lab.checkpoint()
    try lab.commit([(1, "more")])
    witness.acknowledged = lab.state.number
    _ = try lab.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    try lab.commit([(1, "and more")])
    witness.acknowledged = lab.state.number
    try lab.log.close()
  }

  private static let cases: [(StorageError.Operation, Errno, FaultInjection.Effect)] = [
    (.write, .ioError, .none), (.write, .ioError, .partial(20)), (.write, .ioError, .complete),
    (.write, .noSpace, .partial(0)), (.sync, .ioError, .none), (.sync, .ioError, .cacheLies),
    (.sync, .ioError, .cacheDrops), (.sync, .noSpace, .complete), (.allocate, .noSpace, .none),
    (.truncate, .ioError, .none), (.create, .noSpace, .none), (.rename, .ioError, .none),
    (.rename, .ioError, .complete), (.place, .ioError, .none), (.place, .ioError, .complete),
    (.syncDirectory, .ioError, .none), (.read, .ioError, .none),
    (.size, .ioError, .none), (.lock, .ioError, .none), (.identify, .ioError, .none),
    (.open, .ioError, .none),
  ]

  @Test(arguments: 0..<FaultTests.cases.count)
  func everyCallFails(index: Int) throws {
    let (operation, errno, effect) = FaultTests.cases[index]
    for countdown in 0..<200 {
      let files = FaultyFileSystem()
      files.inject(FaultInjection(operation, after: countdown, errno, effect: effect))
      let witness = Witness()
      let note = Comment(rawValue: "\(operation) \(countdown)")
      do {
        try work(files, witness)
        // Either there were no more such calls, or the failure did not matter.
        if files.injectedCount == 0 {
          #expect(countdown > 0, "no call of this kind was made")
          return
        }
      } catch let error as LogError {
        switch error {
        case .storage, .outcomeUnknown, .poisoned: break
        default: Issue.record(error, note)
        }
      }
      try check(files.afterKill(), witness, note)
      files.cutPower()
      try files.forEachSurvivor(limit: 6) { survivor in
        try check(survivor.files, witness, note)
      }
    }
    Issue.record("there is no end of \(operation)")
  }

  private func check(
    _ files: FaultyFileSystem, _ witness: Witness, _ note: Comment
  ) throws {
    guard try files.identity(of: LogLab.path) != nil else {
      #expect(witness.acknowledged == 0, note)
      return
    }
    do {
      let lab = try LogLab(files, creates: false, opening: 8)
      #expect(lab.state.number >= witness.acknowledged, note)
      let isOne = witness.states[lab.state.number] == lab.state
      #expect(isOne, note)
      try lab.commit([(77, "after the failure")])
      try lab.log.close()
      #expect(files.paths == [LogLab.path], note)
      #expect(try LogLab(files, creates: false).state == lab.state, note)
    } catch {
      Issue.record(error, note)
    }
  }

  @Test
  func aFailedSyncPoisonsAndTakesOutWhatWasNotAcknowledged() throws {
    let files = FaultyFileSystem()
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    let acknowledged = lab.state
    try lab.lock()
    try lab.append([(1, "two")])
    try lab.append([(1, "three")])
    files.inject(FaultInjection(.sync, .ioError))
    #expect(throws: LogError.self) { try lab.log.sync() }
    #expect(lab.log.isPoisoned)
    lab.log.unlock()
    #expect(throws: LogError.self) { try lab.log.sync() }
    #expect(throws: LogError.self) { try lab.lock() }
    // Another process sees what was acknowledged, and writes on.
    let other = try LogLab(files, creates: false, opening: 8)
    #expect(other.state == acknowledged)
    try other.commit([(1, "deux")])
    try lab.log.close()
    #expect(try LogLab(files, creates: false).state == other.state)
  }

  @Test(arguments: [true, false])
  func whatAFailedSyncLeftIsWrittenAgainBeforeTheNextCommit(hasReadPastCache: Bool) throws {
    // The sync of deferred transactions fails; the cache shows them and calls them clean. They were
    // acknowledged, so they stay; but nothing writes them to the disk any more, unless somebody
    // writes them anew.
    let files = FaultyFileSystem()
    files.hasReadPastCache = hasReadPastCache
    let lab = try LogLab(files, durability: .deferred)
    try lab.lock()
    try lab.append([(1, "one")])
    try lab.append([(2, "two")])
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    #expect(throws: LogError.self) { try lab.log.sync() }
    lab.log.unlock()
    try lab.log.close()
    let restarted = files.afterKill()
    let next = try LogLab(restarted, creates: false, opening: 8)
    #expect(next.state == lab.state)
    try next.commit([(3, "three")])
    restarted.cutPower()
    restarted.forEachSurvivor { survivor in
      let survived = try? LogLab(survivor.files, creates: false, access: .reading).state
      #expect(survived == next.state, Comment(rawValue: survivor.description))
    }
  }

  @Test
  func aFullDiskRefusesOneTransactionAndTakesTheNext() throws {
    let files = FaultyFileSystem(capacity: 90_000)
    let lab = try LogLab(files)
    try lab.commit([(1, "one")])
    let before = lab.state
    let large = String(repeating: "large ", count: 30_000)
    // What is written of it is random, so that it does not shrink.
    var seed: UInt64 = 1
    var text = ""
    while text.utf8.count < large.utf8.count {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      text += String(seed, radix: 36)
    }
    #expect(throws: LogError.self) { try lab.commit([(2, text)]) }
    #expect(!lab.log.isPoisoned)
    #expect(lab.state == before)
    try lab.commit([(2, "small")])
    #expect(try LogLab(files, creates: false, access: .reading).state == lab.state)
  }
}
