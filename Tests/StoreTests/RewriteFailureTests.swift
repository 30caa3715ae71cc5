import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import SystemPackage
import Testing

/// Rewrites that are refused, and power that fails while a file is written anew.
@Suite struct RewriteFailureTests {
  private func location(_ disk: FaultyFileSystem) -> StoreLocation {
    StoreLocation(fileSystem: disk, path: "/a.annals")
  }

  /// A store with ten notes, and a value over 4 KiB that is replaced on the way.
  private func filled(_ disk: FaultyFileSystem) throws -> Store {
    let store = try noteStore(location(disk))
    for index in 0..<10 { try store.note("n\(index)", text: "text \(index)") }
    let id = ObjectID(store: RawUUID(store.id), entity: 1, row: 1)
    for letter in ["p", "q"] {
      try store.write {
        try $0.update(id, ["text": .string(String(repeating: letter, count: 6_000))])
      }
    }
    return store
  }

  @Test func aPlanIsRefusedIfTheFloorHasMoved() throws {
    let store = try filled(FaultyFileSystem())
    let early = try store.prunePlan(before: 4)
    let late = try store.prunePlan(before: 6)
    #expect(early.transactions == 3 && late.transactions == 5)
    try store.prune(late, author: "ann")
    let error = #expect(throws: AnnalsError.self) { try store.prune(early) }
    #expect(error?.code == .conflict)
    #expect(store.base.number == 5)
    #expect(try store.prunePlan(before: 6).transactions == 0)
    #expect(try store.prune(store.prunePlan(before: 6)).isRewritten == false)
  }

  @Test func aFloorMovedByAnotherOpeningIsNoticed() throws {
    let disk = FaultyFileSystem()
    let store = try filled(disk)
    let other = try noteStore(location(disk), seed: 2)
    let plan = try store.prunePlan(before: 4)
    try other.prune(other.prunePlan(before: 6), author: "other")
    let error = #expect(throws: AnnalsError.self) { try store.prune(plan) }
    #expect(error?.code == .conflict)
    try store.refresh()
    #expect(store.base.number == 5)
    #expect(try store.snapshot(at: 5).count(of: "Note") == 4)
  }

  @Test func theGapSaysWhatIsLeftAndWhoTookTheRest() throws {
    let disk = FaultyFileSystem()
    let store = try filled(disk)
    let token = try store.token(at: 3)
    try store.prune(store.prunePlan(before: 8), author: "ann")
    try store.close()
    let again = try Store(location(disk), creates: false)
    for call in [
      { _ = try again.snapshot(at: 3) }, { _ = try again.snapshot(at: token) },
      { _ = try again.history(after: 3) }, { _ = try again.transaction(3) },
      { _ = try again.diff(from: 3, to: 9) }, { _ = try again.revertPlan(3) },
    ] as [() throws -> Void] {
      let error = #expect(throws: AnnalsError.self, performing: call)
      #expect(error?.code == .pruned)
      #expect(error?.gap?.requested == 3)
      #expect(error?.gap?.oldestValid == again.base)
      #expect(error?.gap?.prunedBy == "ann")
      #expect(error?.gap?.prunedAt != nil)
    }
    #expect(again.base.number == 7)
    #expect(try again.snapshot(at: 7).count(of: "Note") == 6)
    #expect(try again.history().collect().map(\.number) == [8, 9, 10, 11, 12, 13])
    #expect(try again.verifyHistory() == [])
  }

  @Test(arguments: ["prune", "compact", "smallest"])
  func powerMayFailAtAnyPointOfARewrite(kind: String) throws {
    func work(_ disk: FaultyFileSystem, crashingAt point: Int?) throws -> Int {
      let store = try filled(disk)
      let first = disk.pointCount
      if let point { disk.crash(at: first + point) }
      do {
        switch kind {
        case "prune": try store.prune(store.prunePlan(before: 6), author: "ann")
        default: try store.compact(smallest: kind == "smallest")
        }
        try store.close()
      } catch {
        try #require(point != nil)
      }
      return disk.pointCount - first
    }
    let count = try work(FaultyFileSystem(), crashingAt: nil)
    #expect(count > 3)
    for point in 0..<count {
      let disk = FaultyFileSystem(seed: UInt64(point))
      _ = try work(disk, crashingAt: point)
      disk.forEachSurvivor(limit: 4) { survivor in
        check(survivor, "\(kind), point \(point), \(survivor)")
      }
    }
  }

  /// Either the old file or the new one is there, whole.
  private func check(_ survivor: Survivor, _ place: String) {
    do {
      let again = try Store(location(survivor.files), creates: false)
      #expect(again.token.number == 13, "\(place)")
      #expect(again.base.number == 0 || again.base.number == 5, "\(place)")
      for number in 5...11 {
        #expect(try again.snapshot(at: number).count(of: "Note") == number - 1, "\(place)")
      }
      #expect(try again.texts()[0].byteCount == 6_000, "\(place)")
      #expect(try again.verifyHistory() == [], "\(place)")
      try again.note("after")
      try again.compact()
      #expect(try again.snapshot().count(of: "Note") == 11, "\(place)")
      try again.close()
      #expect(survivor.files.paths == ["/a.annals"], "\(place): \(survivor.files.paths)")
    } catch {
      Issue.record("\(place): \(error)")
    }
  }

  @Test func aFullDiskLeavesTheOldFile() throws {
    let disk = FaultyFileSystem()
    let store = try filled(disk)
    disk.capacity = 70_000
    let error = #expect(throws: AnnalsError.self) {
      try store.replay(to: "/b.annals", at: 5)
      try store.compact()
    }
    #expect(error?.code == .noSpace)
    disk.capacity = .max
    try store.note("after")
    #expect(try store.snapshot().count(of: "Note") == 11)
    #expect(try store.verifyHistory() == [])
    try store.compact()
    #expect(try store.snapshot(at: 3).count(of: "Note") == 2)
  }

  @Test func writersGoOnWhileAFileIsWrittenAnew() throws {
    let disk = FaultyFileSystem()
    let store = try filled(disk)
    let other = try noteStore(location(disk), seed: 2)
    let old = store.snapshot()
    let history = try store.history()
    try store.compact()
    try other.note("from the other")
    try store.note("from the first")
    #expect(try store.snapshot().count(of: "Note") == 12)
    #expect(try old.count(of: "Note") == 10)
    #expect(try old.objects(of: "Note")[0]["text"].byteCount == 6_000)
    #expect(try history.collect().count == 13)
    try other.refresh()
    #expect(other.token == store.token)
    #expect(try other.verifyHistory() == [])
  }
}
