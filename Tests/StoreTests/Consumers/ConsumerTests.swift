import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Registering, reading and advancing.
@Suite(.deadline) struct ConsumerTests {
  private let lab = ConsumerLab()

  @Test func readsWhatItHasNotSeen() throws {
    let store = try lab.open(notes: 2)
    let sync = try store.consumer("sync", kind: "upload")
    #expect(try sync.history().numbers() == [1, 2, 3])
    try sync.advance(to: store.token(at: 2))
    #expect(try sync.history().numbers() == [3])
    try store.note("mine", author: "sync")
    try store.note("nobody's")
    let unread = try sync.unread(notBy: "sync")
    #expect(try unread.numbers() == [3, 5])
    #expect(try unread.end == store.token)
    #expect(try sync.unread(notBy: "sync", where: .author == "ann").numbers() == [3])
    try sync.advance(to: unread.end)
    #expect(try sync.unread(notBy: "sync").numbers().isEmpty)
    #expect(try sync.token == store.token)
    try store.close()
    let again = try lab.open()
    #expect(try again.consumer("sync").token.number == 5)
    #expect(again.consumers.map(\.kind) == ["upload"])
    try again.close()
  }

  @Test func startsWhereItIsTold() throws {
    let store = try lab.open(notes: 3)
    #expect(try store.consumer("new").token.number == 0)
    #expect(try store.consumer("late", startingAfter: store.token).history().numbers().isEmpty)
    #expect(try store.consumer("mid", startingAfter: Int64(2)).history().numbers() == [3, 4])
    // Where there is one already it stays.
    #expect(try store.consumer("late", startingAfter: Int64(1)).token.number == 4)
    #expect(throws: AnnalsError.self) { try store.consumer("x", startingAfter: Int64(9)) }
    #expect(store.consumers.map(\.name) == ["late", "mid", "new"])
  }

  @Test func keepsWhatItIs() throws {
    let store = try lab.open(notes: 1)
    var status = try store.consumer("a", kind: "k", blocking: true, lease: .days(2)).status
    #expect((status.kind, status.isBlocking, status.lease) == ("k", true, .seconds(172_800)))
    lab.wait(seconds: 60)
    status = try store.consumer("a").status
    #expect((status.kind, status.isBlocking, status.lease) == ("k", true, .days(2)))
    #expect(status.lastSeen.timeIntervalSince(status.registered) == 60)
    #expect(status.expiry?.timeIntervalSince(status.lastSeen) == 172_800)
    status = try store.consumer("a", kind: "", blocking: false, lease: .forever).status
    #expect((status.kind, status.isBlocking, status.lease) == ("", false, .forever))
    #expect(status.expiry == nil)
    try store.close()
    #expect(try lab.open(.readOnly).consumers == [status])
  }

  /// What it has seen goes with the next commit; alone at most once a second; and at the close.
  @Test func whenItIsWritten() throws {
    let store = try lab.open(notes: 4)
    #expect(try lab.frames(.consumerChange) == 0)
    #expect(try lab.frames(.featureAnnouncement) == 0)
    let sync = try store.consumer("sync")
    #expect(try lab.frames(.featureAnnouncement) == 1)
    #expect(try lab.frames(.consumerChange) == 1)
    lab.wait(seconds: 2)
    try sync.advance(to: store.token(at: 1))
    #expect(try lab.frames(.consumerChange) == 2)
    try sync.advance(to: store.token(at: 2))
    lab.wait(seconds: 0.9)
    try sync.advance(to: store.token(at: 3))
    #expect(try lab.frames(.consumerChange) == 2)
    try store.note("with it")
    #expect(try lab.frames(.consumerChange) == 3)
    try store.note("without")
    #expect(try lab.frames(.consumerChange) == 3)
    try sync.advance(to: store.token(at: 4))
    lab.wait(seconds: 1)
    try sync.advance(to: store.token(at: 5))
    #expect(try lab.frames(.consumerChange) == 4)
    try sync.advance(to: store.token)
    try store.close()
    #expect(try lab.frames(.consumerChange) == 5)
    #expect(try lab.frames(.featureAnnouncement) == 1)
    #expect(try lab.open().consumer("sync").token.number == 7)
  }

  /// A clock that goes back says nothing of how long ago the last was written.
  @Test func itIsWrittenWhenTheClockGoesBack() throws {
    let store = try lab.open(notes: 4)
    let sync = try store.consumer("sync")
    try sync.advance(to: store.token(at: 1))
    #expect(try lab.frames(.consumerChange) == 2)
    lab.wait(seconds: -0.5)
    try sync.advance(to: store.token(at: 2))
    #expect(try lab.frames(.consumerChange) == 2)
    lab.wait(seconds: -3_600)
    try sync.advance(to: store.token(at: 3))
    #expect(try lab.frames(.consumerChange) == 3)
  }

  /// A process that ends without closing reads again what it had seen last.
  @Test func losingOneMeansReadingAgain() throws {
    let store = try lab.open(notes: 4)
    let sync = try store.consumer("sync")
    try sync.advance(to: store.token(at: 2))
    try store.note("with it")
    try sync.advance(to: store.token)
    let other = try lab.open()
    #expect(try other.consumer("sync").history().numbers() == [3, 4, 5, 6])
    try other.close()
    withExtendedLifetime(store) {}
  }

  @Test func withinTheClosureOfAWrite() throws {
    let store = try lab.open(notes: 2)
    let sync = try store.consumer("sync")
    lab.wait(seconds: 5)
    #expect(throws: Mismatch.self) {
      try store.write { _ in
        try sync.advance(to: store.token)
        throw Mismatch("given up")
      }
    }
    #expect(try lab.frames(.consumerChange) == 1)
    #expect(try sync.token.number == 3)
    try store.write { tx in
      _ = try tx.insert("Note", ["id": .string("x")])
      try sync.advance(to: store.token)
    }
    #expect(try lab.frames(.consumerChange) == 2)
  }

  @Test func goesBackOnlyIfToldTo() throws {
    let store = try lab.open(notes: 4)
    let sync = try store.consumer("sync")
    try sync.advance(to: store.token(at: 4))
    try sync.advance(to: store.token(at: 4))
    // Another process may have been faster: the furthest position counts.
    try sync.advance(to: store.token(at: 3))
    #expect(try sync.token.number == 4)
    try sync.advance(to: store.token(at: 3), mayGoBack: true)
    #expect(try sync.token.number == 3)
    try store.note("with it")
    #expect(try lab.open(.readOnly).consumer("sync").token.number == 3)
    try sync.advance(to: store.token(at: 1), mayGoBack: true)
    try sync.advance(to: store.token(at: 2))
    try store.close()
    #expect(try lab.open().consumer("sync").token.number == 2)
  }

  @Test func refusals() throws {
    let store = try lab.open(notes: 1)
    let sync = try store.consumer("sync")
    func code(_ body: () throws -> Void) -> AnnalsError.Code? {
      do { try body() } catch { return (error as? AnnalsError)?.code }
      return nil
    }
    let other = try #require(Token("1@00000000-0000-4000-8000-000000000001"))
    #expect(code { try sync.advance(to: other) } == .otherStore)
    let beyond = Token(store: store.token.store, number: 9, opening: 0)
    #expect(code { try sync.advance(to: beyond) } == .beyondHead)
    #expect(code { _ = try store.consumer("") } == .invalidArgument)
    let long = String(repeating: "x", count: 256)
    #expect(code { _ = try store.consumer(long) } == .invalidArgument)
    #expect(code { _ = try store.consumer("a", kind: long) } == .invalidArgument)
    let last = try store.consumer(String(long.dropFirst()))
    #expect(try store.removeConsumer("sync"))
    #expect(try !store.removeConsumer("sync"))
    #expect(code { try sync.advance(to: store.token) } == .notFound)
    #expect(code { _ = try sync.history() } == .notFound)
    let reader = try lab.open(.readOnly)
    #expect(code { _ = try reader.consumer("nobody") } == .readOnly)
    let same = try reader.consumer(String(long.dropFirst()))
    #expect(try same.history().numbers() == [1, 2])
    #expect(code { try same.advance(to: store.token) } == .readOnly)
    #expect(code { _ = try reader.removeConsumer("a") } == .readOnly)
    try store.close()
    #expect(code { try sync.advance(to: store.token) } == .notFound)
    #expect(code { try last.advance(to: store.token) } == .closed)
  }

  @Test func atMostAThousand() throws {
    let store = try lab.open(.deferred)
    for number in 0..<1000 { _ = try store.consumer("c\(number)") }
    #expect(throws: AnnalsError.self) { try store.consumer("one more") }
    _ = try store.consumer("c7", kind: "changed")
    try store.removeConsumer("c8")
    _ = try store.consumer("one more")
    try store.checkpoint()
    try store.close()
    #expect(try lab.frames(.checkpoint) == 1)
    let again = try lab.open(.readOnly)
    #expect(again.consumers.count == 1000)
    #expect(again.consumers.first { $0.name == "c7" }?.kind == "changed")
  }

  @Test func lag() throws {
    let store = try lab.open(notes: 2)
    let sync = try store.consumer("sync")
    #expect(try sync.lag() == ConsumerLag(transactions: 3, changes: 2, time: 0, isPruned: false))
    try sync.advance(to: store.token)
    lab.wait(seconds: 10)
    #expect(try sync.lag() == ConsumerLag(transactions: 0, changes: 0, time: 0, isPruned: false))
    try store.note("a")
    lab.wait(seconds: 5)
    try store.note("b")
    lab.wait(seconds: 2.5)
    #expect(try sync.lag() == ConsumerLag(transactions: 2, changes: 2, time: 7.5, isPruned: false))
    #expect(store.consumers.map(\.transactionsBehind) == [2])
  }

  @Test func streams() async throws {
    let store = try lab.open(notes: 2)
    let sync = try store.consumer("sync", startingAfter: Int64(2))
    var numbers: [Int64] = []
    for try await transaction in try store.changes(for: sync) {
      numbers.append(transaction.number)
      try sync.advance(to: transaction.token)
      if numbers.count == 1 { try store.note("more") }
      if numbers.count == 2 { break }
    }
    #expect(numbers == [3, 4])
    #expect(try sync.token.number == 4)
  }
}
