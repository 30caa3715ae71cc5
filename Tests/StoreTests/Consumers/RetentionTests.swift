import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// How much history is kept, and what maintenance drops.
struct RetentionTests {
  private let lab = ConsumerLab()

  private func maintain(_ store: Store, _ gain: Double = 0) throws -> MaintenancePlan.Outcome {
    let plan = try store.maintenancePlan(minimumGain: gain)
    let floor = store.base.number + 1
    let report = try store.maintain(author: "m", minimumGain: gain)
    #expect(report.plan.outcome == plan.outcome && report.plan.wantedFloor == plan.wantedFloor)
    #expect((report.rewrite != nil) == (plan.outcome == .prunes))
    #expect(store.base.number + 1 == (report.floor ?? floor))
    if plan.outcome == .prunes { #expect(store.base.number + 1 == plan.prune?.floor) }
    return plan.outcome
  }

  @Test func isAPropertyOfTheStore() throws {
    let store = try lab.open(notes: 5)
    let other = try lab.open()
    #expect(store.retention.isOff && "\(store.retention)" == "everything")
    #expect(try maintain(store) == .off)
    try store.setRetention(Retention(days: 30, transactions: 2))
    #expect("\(store.retention)" == "30 days and 2 transactions, whichever is more")
    #expect(other.retention.isOff)
    try other.refresh()
    #expect(other.retention == Retention(days: 30, transactions: 2))
    // Setting it drops nothing, and neither does anything but maintenance.
    try store.compact()
    try store.checkpoint()
    #expect(store.base.number == 0)
    try other.setRetention(Retention(transactions: 1))
    try store.note("more")
    #expect(store.retention == Retention(transactions: 1))
    try store.close()
    let again = try lab.open()
    #expect(again.retention == Retention(transactions: 1))
    #expect(try lab.open(.readOnly).retention == Retention(transactions: 1))
    try again.checkpoint()
    try again.note("behind the checkpoint")
    #expect(try lab.open().retention == Retention(transactions: 1))
    #expect(try maintain(again) == .prunes)
    #expect(again.base.number == again.token.number - 1)
    #expect(try lab.open().retention == Retention(transactions: 1))
    try again.setRetention(.off)
    try again.setRetention(.off)
    #expect(try lab.open(.readOnly).retention.isOff)
    #expect(try lab.frames(.retention) == 2)
    #expect(try maintain(again) == .off)
  }

  @Test func whatCannotBe() throws {
    let store = try lab.open(notes: 1)
    for retention in [
      Retention(days: 0), Retention(days: -1), Retention(days: .nan), Retention(transactions: 0),
      Retention(days: 3, transactions: -2),
    ] {
      do {
        try store.setRetention(retention)
        Issue.record("set \(retention)")
      } catch {
        #expect(error.code == .invalidArgument)
      }
    }
    try store.setRetention(Retention(days: .infinity, transactions: .max))
    #expect(try maintain(store) == .nothingToDrop)
    let reader = try lab.open(.readOnly)
    for body in [{ try reader.setRetention(.off) }, { try reader.maintain() }] {
      do {
        try body()
        Issue.record("changed by a reader")
      } catch let error as AnnalsError {
        #expect(error.code == .readOnly)
      }
    }
    #expect(try reader.maintenancePlan().outcome == .nothingToDrop)
  }

  /// Another store has none.
  @Test func copies() throws {
    let store = try lab.open(notes: 3)
    try store.setRetention(Retention(transactions: 2))
    try store.replay(to: "/copy.annals", at: store.token)
    let files = lab.location.fileSystem
    let copy = try Store(StoreLocation(fileSystem: files, path: "/copy.annals"), creates: false)
    #expect(copy.retention.isOff)
    #expect(copy.version.view.features.isEmpty)
    try store.backup(to: "/backup.annals")
    let backup = try Store(StoreLocation(fileSystem: files, path: "/backup.annals"), creates: false)
    #expect(backup.retention == Retention(transactions: 2))
  }

  @Test func waitsForConsumers() throws {
    let store = try lab.open(notes: 20)
    try store.setRetention(Retention(transactions: 4))
    let slow = try store.consumer("slow", blocking: true, lease: .seconds(100))
    let quick = try store.consumer("quick", blocking: true)
    _ = try store.consumer("idle")
    #expect(try maintain(store) == .blocked)
    var plan = try store.maintenancePlan()
    #expect(plan.blockers.map(\.name) == ["quick", "slow"] && plan.prune == nil)
    #expect(plan.wantedFloor == 18)
    try slow.advance(to: store.token(at: 7))
    try quick.advance(to: store.token(at: 12))
    #expect(try maintain(store) == .prunes)
    #expect(store.base.number == 7)
    #expect(try slow.history().numbers() == Array(8...21))
    #expect(try maintain(store) == .blocked)
    lab.wait(seconds: 101)
    plan = try store.maintenancePlan()
    #expect(plan.blockers.map(\.name) == ["quick"] && plan.prune?.floor == 13)
    #expect(try maintain(store) == .prunes)
    try quick.advance(to: store.token)
    #expect(try maintain(store) == .prunes)
    #expect(store.base.number == 17)
    #expect(try maintain(store) == .nothingToDrop)
  }

  /// A file is not written anew for little, unless that is asked for.
  @Test func littleIsGained() throws {
    let store = try lab.open()
    try store.setRetention(Retention(transactions: 1_000))
    for number in 0..<1_010 {
      try store.note("n\(number) " + String(repeating: "text ", count: 400), author: "ann")
    }
    #expect(try maintain(store, 0.1) == .littleGained)
    let plan = try store.maintenancePlan()
    #expect(plan.prune?.floor == 12 && plan.shareDropped > 0)
    #expect(try maintain(store, 0) == .prunes)
    try store.setRetention(Retention(transactions: 900))
    #expect(try maintain(store, 0.1) == .prunes)
  }

  /// What is kept, against counting: timestamps that do not rise, and some of the future.
  @Test(arguments: 0..<40 as Range<UInt64>) func againstCounting(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try lab.open()
    var times: [Int64] = []
    func record(_ count: Int) throws {
      for _ in 0..<count {
        lab.wait(seconds: Double(random.below(2_000)))
        // Imports bring their own.
        let ago = random.chance(30) ? Int64(random.below(22_000) - 2_000) : 0
        let moment = Timestamp(microseconds: lab.now.microseconds - ago * 1_000_000)
        try store.importTransaction(timestamp: moment) { tx in
          _ = try tx.insert("Note", ["id": .string("\(times.count)")])
        }
        times.append(moment.microseconds)
      }
    }
    times.append(Timestamp(try store.transaction(1).timestamp).microseconds)
    for _ in 0..<6 {
      try record(random.below(12))
      let days = random.chance(30) ? nil : Double(1 + random.below(12_000)) / 86_400
      let count = random.chance(50) ? nil : 1 + random.below(20)
      let retention = Retention(days: days, transactions: count)
      try store.setRetention(retention)
      let head = Int64(times.count)
      let base = store.base.number
      var floor = head
      if let age = retention.policy.age {
        let start = lab.now.microseconds - age
        floor = min(floor, old(times, before: start, base: base) + 1)
      }
      if let count { floor = min(floor, head - Int64(count) + 1) }
      if retention.isOff { floor = base + 1 }
      floor = max(floor, base + 1)
      let outcome = try maintain(store)
      #expect(store.base.number + 1 == floor, "seed \(seed), \(retention)")
      #expect((outcome == .prunes) == (floor > base + 1))
    }
  }

  /// The last transaction that was certainly made before a moment.
  private func old(_ times: [Int64], before start: Int64, base: Int64) -> Int64 {
    let now = lab.now.microseconds
    var greatest: Int64?
    if base > 0 {
      let known = [times.prefix(Int(base)).max() ?? 0, times[Int(base) - 1]]
      greatest = known.first { $0 <= now }
      if let greatest, greatest >= start { return base }
    }
    var last = base
    for index in times.indices.dropFirst(Int(base)) where times[index] <= now {
      if times[index] >= start { break }
      guard times[index] >= greatest ?? .min else { continue }
      greatest = times[index]
      last = Int64(index) + 1
    }
    return last
  }

  /// One of the future does not keep what came behind it, whether a prune dropped it or not.
  @Test func oneOfTheFutureIsGone() throws {
    let store = try lab.open()
    let future = Timestamp(microseconds: lab.now.microseconds + 86_400_000_000_000)
    try store.importTransaction(timestamp: future) { _ in }
    for number in 0..<5 {
      lab.wait(seconds: 86_400)
      try store.note("n\(number)")
    }
    try store.setRetention(Retention(days: 2.5))
    #expect(try store.maintenancePlan().wantedFloor == 5)
    try store.prune(store.prunePlan(before: Int64(3)))
    #expect(try maintain(store) == .prunes)
    #expect(store.base.number == 4)
  }

  /// What cannot be read of it keeps everything.
  @Test func oneThatIsDamaged() throws {
    let store = try lab.open(notes: 5)
    try store.setRetention(Retention(transactions: 3))
    try store.checkpoint()
    try store.setRetention(Retention(transactions: 2))
    try store.close()
    let place = try #require(try lab.places(.retention).last)
    try lab.files.overwrite([0xFF], at: place + 25, of: lab.location.path)
    let reader = try lab.open(.readOnly)
    #expect(reader.retention.isOff)
    #expect(try reader.maintenancePlan().outcome == .off)
  }

  /// A prune that relied on what a consumer has seen leaves a file that says so.
  @Test func whatIsPrunedWasSeenInTheFile() throws {
    let store = try lab.open(notes: 9)
    let sync = try store.consumer("sync", blocking: true)
    try sync.advance(to: store.token(at: 3))
    try sync.advance(to: store.token(at: 6))
    #expect(try lab.open(.readOnly).consumers.map(\.token.number) == [3])
    try store.prune(store.prunePlan(before: Int64(6)))
    #expect(try lab.open(.readOnly).consumers.map(\.token.number) == [6])
  }

  /// A rewrite that another process's first consumer overtakes begins anew.
  @Test func featuresAnnouncedMeanwhile() throws {
    let (store, other) = (try lab.open(notes: 9), try lab.open())
    let plan = try store.prunePlan(before: Int64(5))
    let late = Locked(0)
    lab.files.onceWhileRewriting(lab.location.path) {
      late.withLock { $0 += 1 }
      _ = try? other.consumer("late")
    }
    try store.prune(plan)
    #expect(late.withLock { $0 } == 1)
    #expect(store.base.number == 4)
    #expect(store.consumers.map(\.name) == ["late"])
  }

  /// Half of the transactions is enough, however few changes they have.
  @Test func halfOfTheTransactionsIsWorthIt() throws {
    let store = try lab.open(notes: 4)
    var random = SeededRandom(seed: 3)
    for part in 0..<5 {
      try store.write { tx in
        for number in 0..<100 {
          let text = (0..<400).map { _ in String(random.next(), radix: 36) }.joined()
          try tx.insert("Note", ["id": .string("\(part) \(number)"), "text": .string(text)])
        }
      }
    }
    try #require(store.version.view.end > 1 << 20)
    try store.setRetention(Retention(transactions: 6))
    #expect(try maintain(store, 0.5) == .littleGained)
    try store.setRetention(Retention(transactions: 5))
    #expect(try store.maintenancePlan(minimumGain: 0.5).shareDropped < 0.1)
    #expect(try maintain(store, 0.5) == .prunes)
    #expect(store.base.number == 5)
  }

  /// Lost transactions are not counted, and not kept where all that is counted is behind them.
  @Test func countsNoneThatWereLost() throws {
    let store = try lab.open(notes: 9)
    try store.close()
    let saved = try lab.salvagedWithoutTheFifth()
    let (head, gap) = (saved.token.number, try #require(saved.version.view.gaps.first))
    #expect(gap.numbers == 5...5)
    func floor(_ count: Int64) throws -> Int64 {
      try saved.setRetention(Retention(transactions: Int(count)))
      return try saved.maintenancePlan().wantedFloor
    }
    #expect(try floor(head - 6) == 7)
    #expect(try floor(head - 5) == 6)
    #expect(try floor(head - 4) == 4)
  }
}
