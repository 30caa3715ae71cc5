import Annals
import AnnalsFaults
import AnnalsStorage

/// Cuts the power at the points of a workload and checks every state that the fault model permits.
/// Also cuts it a second time, while the store recovers.
package struct CrashTrial: Sendable {
  /// The workload that is interrupted.
  package let workload: Workload
  /// The number of its points.
  package let pointCount: Int
  let seed: UInt64
  let image: FaultyFileSystem
  let pledge: Pledge
  let chronicle: Chronicle
  let checked = CheckedStates()

  /// How much is tried at each point.
  package struct Extent: Sendable {
    /// The limit of unsynced changes at each point; about four times as many states are checked.
    package var survivors = 64
    /// One in this many states is checked, always the first; the seed decides which.
    package var oneIn: UInt64 = 1
    /// For how many of the states the power fails again during recovery.
    package var recoveries = 1
    /// The limit of unsynced changes at a second crash.
    package var survivorsOfRecovery = 3

    /// The default extent.
    package init() {}

    /// A few states at each point and no second crash, to try every point soon.
    package static var brief: Extent {
      var extent = Extent()
      extent.survivors = 2
      extent.oneIn = 5
      extent.recoveries = 0
      return extent
    }
  }

  /// The first pass: runs the work on a disk that does not fail and counts the points.
  ///
  /// - Throws: what the work throws; it should not throw.
  package init(_ workload: Workload, seed: UInt64) throws {
    self.workload = workload
    self.seed = seed
    let before = WorkSession(
      FaultyFileSystem(seed: seed), seed: seed &* 2, isRehearsing: true)
    before.files.placesByLinking = workload.placesByLinking
    try workload.setUp(before)
    image = before.files.afterKill()
    pledge = before.pledge
    let session = WorkSession(
      image.afterKill(), seed: seed &* 2 &+ 1, isRehearsing: true, pledge: pledge,
      chronicle: before.chronicle)
    try workload.work(session)
    chronicle = session.chronicle
    pointCount = session.files.pointCount
  }

  /// The second pass, for one point.
  ///
  /// - Throws: `BrokenPromise`, with the point and the unsynced changes that survived.
  package func crash(
    at point: Int, _ extent: Extent = Extent(), _ tally: inout Tally
  ) throws {
    let session = session()
    session.files.crash(at: point)
    do {
      try workload.work(session)
      throw BrokenPromise("the work did not notice that the power failed at point \(point)")
    } catch let error as BrokenPromise {
      throw error
    } catch {}
    tally.points += 1
    // A killed process: everything written survives.
    let killed = SurvivorCheck(session.pledge, chronicle, afterPowerCut: false)
    let left = session.files.afterKill()
    try tally.check("point \(point), killed", killed, on: left, left.fingerprint, checked)
    var random = SeededNumbers(seed: seed &+ UInt64(point))
    var recoveries = extent.recoveries
    var isFirst = true
    try session.files.forEachSurvivor(limit: extent.survivors) { survivor in
      let isChosen = isFirst || UInt64.random(in: 0..<extent.oneIn, using: &random) == 0
      isFirst = false
      guard isChosen else { return }
      let check = SurvivorCheck(session.pledge, chronicle, afterPowerCut: true)
      let files = survivor.files.afterKill()
      let fingerprint = survivor.fingerprint
      try tally.check(survivor.description, check, on: survivor.files, fingerprint, checked)
      guard recoveries > 0, extent.oneIn > 100 || UInt64.random(in: 0..<4, using: &random) == 0,
        checked.isFirstRecovery(of: check, fingerprint)
      else { return }
      recoveries -= 1
      try crashRecovery(of: files, survivor.description, session.pledge, extent, &tally)
    }
  }

  /// A new session at the beginning of the work.
  func session() -> WorkSession {
    WorkSession(
      image.afterKill(), seed: seed &* 2 &+ 1, isRehearsing: false, pledge: pledge,
      chronicle: chronicle)
  }

  /// Recovers from the first crash (opens, commits, closes), and crashes at each point of that.
  private func crashRecovery(
    of files: FaultyFileSystem, _ description: String, _ first: Pledge, _ extent: Extent,
    _ tally: inout Tally
  ) throws {
    let recovery: (WorkSession) throws -> Void = { session in
      session.pledge.attempted = max(session.pledge.attempted, 1)
      try SurvivorCheck.makeAgain(session.files)
      let store = try Store(
        session.location, creates: session.pledge.durable == nil,
        environment: WorkSession.environment(7_001))
      try session.chronicle.resolveErasures(on: store)
      session.chronicle.forget(after: store.token.number)
      session.pledge.attempted = store.token.number + 1
      try SurvivorCheck.commitOnce(store)
      session.pledge.acknowledged = store.token.number
      session.pledge.durable = store.token.number
      try session.chronicle.read(store, after: store.token.number - 1)
      try store.close()
    }
    let rehearsal = WorkSession(
      files.afterKill(), seed: seed, isRehearsing: false, pledge: first, chronicle: chronicle)
    try tally.check(description) { try recovery(rehearsal) }
    for point in 0..<rehearsal.files.pointCount {
      let session = WorkSession(
        files.afterKill(), seed: seed, isRehearsing: false, pledge: first, chronicle: chronicle)
      session.files.crash(at: point)
      try? recovery(session)
      // Until the store was reopened, the chronicle of the first run applies.
      let isOpened = session.pledge.attempted == rehearsal.pledge.attempted
      let expected = isOpened ? rehearsal.chronicle : chronicle
      try session.files.forEachSurvivor(limit: extent.survivorsOfRecovery) { survivor in
        let check = SurvivorCheck(session.pledge, expected, afterPowerCut: true)
        tally.recoveries += 1
        try tally.check(
          "\(description); then, while it recovers, \(survivor.description)", check,
          on: survivor.files, survivor.fingerprint, checked)
      }
    }
  }
}
