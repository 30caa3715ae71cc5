import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import SystemPackage
import Testing

@testable import AnnalsLog

/// Cuts the power at every point of a piece of work, and opens every state that the fault model
/// says may be left.
struct CrashTests {
  /// What a run has acknowledged, and what it was about to.
  private final class Witness {
    /// Every state that the work went through, by number.
    var states: [Int64: Titles] = [0: Titles()]
    /// The last transaction that was acknowledged; nil before the store itself was.
    var acknowledged: Int64?

    /// Watches what a lab does.
    func watch(_ lab: LogLab) {
      lab.willAppend = { [self] state in states[state.number] = state }
    }
  }

  /// Runs `work` once for each point, cutting the power there, and checks all survivors.
  private func crashEverywhere(
    limit: Int = 24, _ work: (FaultyFileSystem, Witness) throws -> Void
  ) throws {
    let trial = FaultyFileSystem()
    try work(trial, Witness())
    let count = trial.pointCount
    #expect(count > 0)
    var survivors = 0
    for point in 0..<count {
      let files = FaultyFileSystem()
      files.crash(at: point)
      let witness = Witness()
      #expect(throws: (any Error).self) { try work(files, witness) }
      survivors += try files.forEachSurvivor(limit: limit) { survivor in
        try check(survivor, witness)
      }
    }
    #expect(survivors > count)
  }

  private func check(_ survivor: Survivor, _ witness: Witness) throws {
    let files = survivor.files
    let note = Comment(rawValue: survivor.description)
    do {
      guard try files.identity(of: LogLab.path) != nil else {
        #expect(witness.acknowledged == nil, note)
        return
      }
      let lab = try LogLab(files, creates: false, opening: 8)
      #expect(lab.state.number >= witness.acknowledged ?? 0, note)
      let isOne = witness.states[lab.state.number] == lab.state
      #expect(isOne, note)
      // The log goes on, and from the base as from the checkpoint.
      try lab.commit([(77, "after the crash")])
      try lab.log.close()
      let again = try LogLab(files, creates: false, opening: 9)
      let isKept = again.state == lab.state
      #expect(isKept, note)
      #expect(again.log.report.tail == .clean, note)
      #expect(again.log.report.findings.isEmpty, note)
      try again.reload(from: .base)
      let isSame = again.state == lab.state
      #expect(isSame, note)
      let numbers = try LogLab.history(again.log.view).map { $0.prefix { $0.isNumber } }
      let count = Set(numbers).count
      #expect(count == Int(lab.state.number - lab.log.view.base), note)
      #expect(files.paths == [LogLab.path], note)
    } catch {
      Issue.record(error, note)
    }
  }

  @Test
  func creation() throws {
    try crashEverywhere { files, witness in
      _ = try LogFile.create(
        at: LogLab.path, in: files,
        NewLog(store: LogLab.uuid, created: Timestamp(microseconds: 1)))
      witness.acknowledged = 0
    }
  }

  @Test
  func commits() throws {
    try crashEverywhere { files, witness in
      let lab = try LogLab(files)
      witness.watch(lab)
      witness.acknowledged = 0
      for number in 1...4 {
        // Before the sync returns, the transaction may be there or not.
        try lab.lock()
        try lab.append([(Int64(number), "title \(number)")])
        try lab.log.sync()
        witness.acknowledged = lab.state.number
        lab.log.unlock()
      }
      try lab.log.close()
    }
  }

  @Test
  func groups() throws {
    try crashEverywhere { files, witness in
      let lab = try LogLab(files)
      witness.watch(lab)
      witness.acknowledged = 0
      for group in 0..<2 {
        try lab.lock()
        for number in 1...3 {
          try lab.append([(Int64(group * 3 + number), "title \(number)")])
        }
        try lab.log.sync()
        witness.acknowledged = lab.state.number
        lab.log.unlock()
      }
    }
  }

  @Test
  func deferredCommits() throws {
    try crashEverywhere { files, witness in
      let lab = try LogLab(files, durability: .deferred)
      witness.watch(lab)
      witness.acknowledged = 0
      for number in 1...6 {
        try lab.lock()
        try lab.append([(Int64(number), "title \(number)")])
        lab.log.unlock()
        if number == 4 {
          try lab.log.sync()
          witness.acknowledged = 4
        }
      }
      try lab.log.close()
    }
  }

  @Test
  func largeTransactions() throws {
    try crashEverywhere(limit: 8) { files, witness in
      let lab = try LogLab(files)
      witness.watch(lab)
      witness.acknowledged = 0
      try lab.lock()
      try lab.appendLarge(row: 1, byte: 1, count: 20_000)
      try lab.log.sync()
      witness.acknowledged = 1
      try lab.appendParts([[(1, "one")], [(2, "two")], [(3, "three")]])
      try lab.log.sync()
      witness.acknowledged = 2
      try lab.appendLarge(row: 4, byte: 4, count: 300_000)
      try lab.log.sync()
      witness.acknowledged = 3
      lab.log.unlock()
    }
  }

  @Test
  func abortedTransactions() throws {
    try crashEverywhere(limit: 6) { files, witness in
      let lab = try LogLab(files)
      witness.watch(lab)
      witness.acknowledged = 0
      try lab.lock()
      try lab.log.begin()
      for count in [300_000, 10] {
        let bytes = ContiguousArray<UInt8>(repeating: 9, count: count)
        _ = try bytes.withBytes { bytes throws(LogError) in
          try lab.log.appendLargeValue(bytes, tag: .data)
        }
      }
      lab.log.abort()
      try lab.append([(2, "two")])
      try lab.log.sync()
      witness.acknowledged = lab.state.number
      lab.log.unlock()
    }
  }

  @Test
  func checkpointsAndSlots() throws {
    try crashEverywhere { files, witness in
      let lab = try LogLab(files)
      witness.watch(lab)
      witness.acknowledged = 0
      for number in 1...3 {
        try lab.lock()
        try lab.append([(Int64(number), "title \(number)")])
        try lab.log.sync()
        witness.acknowledged = lab.state.number
        lab.log.unlock()
        try lab.checkpoint()
      }
      try lab.log.close()
    }
  }

  @Test
  func reopeningAfterACrash() throws {
    // A tail that a crash tore is seen to before the next commit; that work may be cut short as
    // well.
    let first = FaultyFileSystem()
    let lab = try LogLab(first, durability: .deferred)
    for number in 1...5 {
      try lab.lock()
      try lab.append([(Int64(number), "title \(number)")])
      lab.log.unlock()
    }
    let states = Witness()
    for number in 0...5 as ClosedRange<Int64> { states.states[number] = try lab.state(at: number) }
    first.cutPower()
    var seeds: [FaultyFileSystem] = []
    first.forEachSurvivor(limit: 5) { seeds.append($0.files) }
    #expect(seeds.count > 8)
    for seed in seeds {
      guard try seed.identity(of: LogLab.path) != nil else { continue }
      try crashGoingOn(from: seed, states, acknowledged: 0, limit: 8)
    }
  }

  @Test
  func whatAnOpeningMakesSureOfIsNotAtRisk() throws {
    // A process was killed behind a commit that was synced, though nothing in the file says so. The
    // next one makes sure that the disk has it. If it wrote it again for that, a power cut
    // meanwhile would garble a sector of what was acknowledged.
    let first = FaultyFileSystem()
    let lab = try LogLab(first)
    let states = Witness()
    states.watch(lab)
    try lab.commit([(1, "one")])
    try lab.commit([(2, "two")])
    let killed = first.afterKill()
    try crashGoingOn(from: killed, states, acknowledged: 2)
  }

  @Test(arguments: [true, false])
  func whatIsWrittenAnewIsSyncedBeforeAnythingClaimsIt(hasReadPastCache: Bool) throws {
    // A sync failed: the cache shows two transactions that the disk may not have, and calls them
    // clean. The next process writes them anew. A power cut behind that and before its sync must
    // not leave a mark that says they were synced.
    let first = FaultyFileSystem()
    first.hasReadPastCache = hasReadPastCache
    let lab = try LogLab(first, durability: .deferred)
    let states = Witness()
    states.watch(lab)
    try lab.lock()
    try lab.append([(1, "one")])
    try lab.append([(2, "two")])
    first.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    #expect(throws: LogError.self) { try lab.log.sync() }
    lab.log.unlock()
    try lab.log.close()
    try crashGoingOn(from: first.afterKill(), states, acknowledged: 0)
  }

  /// Crashes at each point of what an opening and one more commit do on a file, and checks what
  /// each crash may leave, at most `limit` of them each time.
  private func crashGoingOn(
    from files: FaultyFileSystem, _ known: Witness, acknowledged: Int64, limit: Int = 64
  ) throws {
    let rehearsal = files.afterKill()
    let witness = Witness()
    witness.states = known.states
    try continueWork(rehearsal, witness)
    for point in 0..<rehearsal.pointCount {
      let trial = files.afterKill()
      trial.crash(at: point)
      let witness = Witness()
      witness.states = known.states
      witness.acknowledged = acknowledged
      #expect(throws: (any Error).self) { try continueWork(trial, witness) }
      try trial.forEachSurvivor(limit: limit) { survivor in try check(survivor, witness) }
    }
  }

  private func continueWork(_ files: FaultyFileSystem, _ witness: Witness) throws {
    let lab = try LogLab(files, creates: false, opening: 8)
    // Deferred transactions that the cut took were not acknowledged beyond a kill.
    let head = lab.state.number
    witness.states = witness.states.filter { $0.key <= head }
    witness.watch(lab)
    try lab.lock()
    try lab.append([(9, "after")])
    try lab.log.sync()
    witness.acknowledged = lab.state.number
    lab.log.unlock()
  }

  @Test
  func rewrites() throws {
    try crashEverywhere(limit: 12) { files, witness in
      let lab = try LogLab(files)
      witness.watch(lab)
      witness.acknowledged = 0
      try lab.lock()
      for number in 1...8 {
        let title = "a title that is long enough for a block to gain something \(number)"
        try lab.append((1...4).map { (row: $0, title: title) })
      }
      try lab.log.sync()
      witness.acknowledged = lab.state.number
      lab.log.unlock()
      try lab.checkpoint()
      let report = try lab.rewrite(
        RewritePlan(base: .keep, checkpoint: true, destination: .replace))
      #expect(report.outcome == .done)
      try lab.commit([(1, "on")])
      witness.acknowledged = lab.state.number
      _ = try lab.rewrite(try lab.prunePlan(6, try lab.state(at: 6)))
      try lab.commit([(1, "and on")])
      witness.acknowledged = lab.state.number
      try lab.log.close()
    }
  }
}
