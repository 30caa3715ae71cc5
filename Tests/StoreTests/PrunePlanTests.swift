import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// What a plan says of a prune, against what the history says.
@Suite struct PrunePlanTests {
  /// Two stores of twelve notes, one of them salvaged with a gap of two and one of one.
  private func stores() throws -> [Store] {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try noteStore(location)
    for number in 1...12 { try store.note("n\(number)", text: "text \(number)") }
    try store.close()
    let frames = try files.frames(of: location.path, .transaction).map(\.offset)
    try #require(frames.count == 13)
    try files.put(files.contents(of: location.path), at: "/damaged.annals")
    for index in [4, 5, 9] { try files.flip(0xFF, at: frames[index] + 30, of: "/damaged.annals") }
    let damaged = StoreLocation(fileSystem: files, path: "/damaged.annals")
    let report = try Store.salvage(damaged, to: "/saved.annals")
    #expect(report.lost.map(\.numbers) == [5...6, 10...10])
    let saved = StoreLocation(fileSystem: files, path: "/saved.annals")
    return [try Store(location, creates: false), try Store(saved, creates: false)]
  }

  /// A gap counted as a transaction that is kept.
  @Test func itCountsAsTheHistoryDoes() throws {
    for store in try stores() {
      let all = try store.history().count()
      for floor in store.base.number + 1...store.token.number {
        // A floor within a gap has no state before it.
        guard let plan = try? store.prunePlan(before: floor) else { continue }
        #expect(plan.transactionsKept == Int64(try store.history(after: plan.base).count()))
        #expect(Int64(plan.transactions) + plan.transactionsKept == Int64(all), "\(plan)")
        var told = 0
        try store.history(after: plan.base).forEach { if $0.lost == nil { told += 1 } }
        #expect(plan.transactionsKept == Int64(told))
      }
    }
  }

  /// Little is dropped only if there is much: the share of the changes decides, which is known.
  @Test func maintenanceSaysWhichShareGoes() throws {
    let store = try noteStore()
    var random = SeededRandom(seed: 1)
    for number in 1...40 {
      let text = (0..<3_000).map { _ in String(random.next(), radix: 36) }.joined()
      try store.note("n\(number)", text: text)
    }
    try store.setRetention(Retention(transactions: 38))
    let plan = try store.maintenancePlan()
    #expect(plan.outcome == .littleGained && plan.prune?.changes == 2, "\(plan)")
    #expect(plan.shareDropped == 0.05)
    #expect("\(plan)" == "keeps 38 transactions: too little to drop, 2 changes")
    #expect(try store.maintenancePlan(minimumGain: 0.05).outcome == .prunes)
  }
}
