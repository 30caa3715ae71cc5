import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import Foundation
import Testing

@Suite struct TokenTests {
  @Test func tokensSurviveTheirTextAndJSON() throws {
    let store = try noteStore()
    try store.note("a")
    let token = store.token
    #expect(token.opening != 0)
    #expect(Token(token.description) == token)
    let data = try JSONEncoder().encode([token])
    #expect(try JSONDecoder().decode([Token].self, from: data) == [token])
    #expect(try store.snapshot(at: token).number == 2)
    let bare = try #require(Token("1@\(token.store)"))
    #expect(try store.snapshot(at: bare).number == 1)
    #expect(bare < token)
    #expect(try store.transaction(2).token == token)
    #expect(try store.token(at: 2) == token)
    #expect(try store.token(at: Date.distantFuture) == token)
  }

  @Test func aTokenOfAnotherStoreSaysSo() throws {
    let store = try noteStore()
    let other = try noteStore(seed: 2)
    let error = #expect(throws: AnnalsError.self) { try store.snapshot(at: other.token) }
    #expect(error?.code == .otherStore)
    #expect(error?.message.contains("\(store.token.store)") == true)
    let history = #expect(throws: AnnalsError.self) { try store.history(after: other.token) }
    #expect(history?.code == .otherStore)
  }

  @Test func beyondTheHeadAndBelowTheBase() throws {
    let store = try noteStore()
    for position in [2, Int64(2)] as [any HistoryPosition] {
      let error = #expect(throws: AnnalsError.self) { try store.snapshot(at: position) }
      #expect(error?.code == .beyondHead)
    }
    let token = Token(store: store.token.store, number: 5, opening: store.token.opening)
    #expect(#expect(throws: AnnalsError.self) { try store.diff(from: token) }?.code == .beyondHead)
    #expect(#expect(throws: AnnalsError.self) { try store.snapshot(at: -1) }?.code == .pruned)
    #expect(#expect(throws: AnnalsError.self) { try store.transaction(0) }?.code == .pruned)
    #expect(#expect(throws: AnnalsError.self) { try store.transaction(2) }?.code == .beyondHead)
  }

  @Test func aTokenOfALostBranchSaysSo() throws {
    // A copy of the file goes on under another opening: its transaction 3 is not the original's.
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location)
    try store.note("a")
    let shared = store.token
    let copy = StoreLocation(fileSystem: disk.afterKill(), path: "/a.annals")
    try store.note("b")
    let lost = store.token
    let other = try noteStore(copy, seed: 9)
    try other.note("c")
    #expect(other.token.number == lost.number && other.token != lost)
    #expect(try other.snapshot(at: shared).number == shared.number)
    let error = #expect(throws: AnnalsError.self) { try other.snapshot(at: lost) }
    #expect(error?.code == .lostBranch)
    #expect(error?.lastShared == shared)
    #expect(error?.message.contains("in common is \(shared.number)") == true)
    #expect(
      #expect(throws: AnnalsError.self) { try other.history(after: lost) }?.code == .lostBranch)
    // An opening that this store never saw: nothing is known to be shared.
    let foreign = Token(store: lost.store, number: lost.number, opening: 12345)
    let unknown = #expect(throws: AnnalsError.self) { try other.snapshot(at: foreign) }
    #expect(unknown?.code == .lostBranch && unknown?.lastShared == nil)
  }

  /// The base keeps the identity of its transaction through each rewrite.
  @Test func theBaseOfAnotherBranchIsRefused() throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location)
    try store.note("a")
    let copy = StoreLocation(fileSystem: disk.afterKill(), path: "/a.annals")
    try store.note("b")
    let lost = store.token
    let other = try noteStore(copy, seed: 9)
    try other.note("c")
    let own = other.token
    try other.note("d")
    try other.prune(other.prunePlan(before: own.number + 1))
    for round in 0..<3 {
      #expect(other.base.number == lost.number)
      for call in [{ _ = try other.snapshot(at: lost) }, { _ = try other.history(after: lost) }] {
        let error = #expect(throws: AnnalsError.self) { try call() }
        #expect(error?.code == .lostBranch && error?.lastShared == nil, "round \(round)")
      }
      #expect(try other.snapshot(at: own).number == own.number)
      try other.note("e\(round)")
      try other.compact(smallest: round == 1)
    }
  }

  @Test func aNumberStandsForItsStateAndADateForAllBeforeIt() throws {
    let store = try Store(.memory, schema: noteSchema, environment: .fixed(step: 10_000_000))
    let times = [100, 50, 200, 150, 300]
    for time in times {
      try store.importTransaction(timestamp: Timestamp(microseconds: Int64(time))) { _ in }
    }
    // The schema's transaction has the clock's time, which is later than all: nothing is before it.
    #expect(try store.snapshot(at: Date(Timestamp(microseconds: 250))).number == 0)
    let plain = try Store(.memory, creates: true, environment: .fixed())
    for time in times {
      try plain.importTransaction(timestamp: Timestamp(microseconds: Int64(time))) { _ in }
    }
    for (moment, asOf, before) in [
      (99, 0, 0), (100, 2, 0), (101, 2, 2), (200, 4, 2), (299, 4, 4), (300, 5, 4), (301, 5, 5),
    ] {
      let date = Date(Timestamp(microseconds: Int64(moment)))
      #expect(try plain.snapshot(at: date).number == asOf, "as of \(moment)")
      #expect(try plain.history(before: date).count() == before, "before \(moment)")
      #expect(try plain.history(after: date).count() == 5 - asOf, "after \(moment)")
    }
  }
}
