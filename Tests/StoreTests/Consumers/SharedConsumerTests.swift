import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsEngine

/// Consumers of several stores on one file, and in files that are written anew.
struct SharedConsumerTests {
  private let lab = ConsumerLab()

  @Test func differentOnes() throws {
    let (a, b) = (try lab.open(notes: 3), try lab.open())
    let one = try a.consumer("one")
    let two = try b.consumer("two")
    try one.advance(to: a.token(at: 3))
    try two.advance(to: b.token(at: 2))
    try b.note("b")
    try a.note("a")
    try b.refresh()
    for store in [a, b] { #expect(store.consumers.map(\.token.number) == [3, 2]) }
    try a.close()
    try b.close()
    #expect(try lab.frames(.featureAnnouncement) == 1)
  }

  /// The furthest place counts, but where one is told to go back.
  @Test func theSameOne() throws {
    let (a, b) = (try lab.open(notes: 4), try lab.open())
    let first = try a.consumer("sync")
    let second = try b.consumer("sync")
    try second.advance(to: b.token(at: 4))
    try first.advance(to: a.token(at: 2))
    try b.note("b")
    try a.note("a")
    #expect(try first.token.number == 4)
    try b.refresh()
    #expect(try second.token.number == 4)
    try first.advance(to: a.token(at: 3), mayGoBack: true)
    try a.note("back")
    try b.refresh()
    #expect(try second.token.number == 3)
    try a.close()
    try b.close()
    #expect(try lab.open().consumer("sync").token.number == 3)
  }

  @Test func oneThatAnotherRemoves() throws {
    let (a, b) = (try lab.open(notes: 4), try lab.open())
    let sync = try a.consumer("sync")
    lab.wait(seconds: 1)
    try sync.advance(to: a.token(at: 1))
    try sync.advance(to: a.token(at: 3))
    try b.removeConsumer("sync")
    try a.note("a")
    #expect(a.consumers.isEmpty)
    #expect(throws: AnnalsError.self) { try sync.advance(to: a.token) }
    // Another of that name is another: what the first had seen says nothing of it.
    _ = try a.consumer("again")
    try a.consumer("again").advance(to: a.token(at: 2))
    try a.consumer("again").advance(to: a.token(at: 3))
    lab.wait(seconds: 1)
    try b.removeConsumer("again")
    _ = try b.consumer("again")
    try a.note("more")
    #expect(try a.consumer("again").token.number == 0)
    try a.close()
    try b.close()
  }

  /// Frames of consumers are followed, and wake nobody who waits for transactions.
  @Test func theyWakeNobody() throws {
    let (a, b) = (try lab.open(notes: 2), try lab.open())
    let waiting = try b.writer.head.feedPosition()
    let sync = try a.consumer("sync")
    lab.wait(seconds: 1)
    try sync.advance(to: a.token)
    try b.refresh()
    #expect(b.consumers.map(\.token.number) == [3])
    #expect(try b.writer.head.feedPosition().edition == waiting.edition)
    try a.note("a")
    try b.refresh()
    #expect(try b.writer.head.feedPosition().edition != waiting.edition)
  }

  @Test(arguments: [false, true]) func rewritesKeepThem(isPrune: Bool) throws {
    let store = try lab.open(notes: 9)
    _ = try store.consumer("old", kind: "k", lease: .seconds(5))
    let sync = try store.consumer("sync", blocking: true)
    try sync.advance(to: store.token(at: 4))
    let other = try lab.open()
    let others = try other.consumer("others")
    lab.wait(seconds: 1)
    try others.advance(to: other.token(at: 5))
    try others.advance(to: other.token(at: 6))
    try sync.advance(to: store.token(at: 6))
    let before = store.consumers
    if isPrune {
      try store.prune(store.prunePlan(before: Int64(6)))
      #expect(store.base.number == 5)
    } else {
      try store.compact()
    }
    #expect(store.consumers == before)
    try other.note("more")
    #expect(try others.token.number == 6)
    try store.close()
    try other.close()
    #expect(try lab.frames(.featureAnnouncement) == 0)
    let again = try lab.open()
    #expect(again.consumers.map(\.token.number) == [0, 6, 6])
    #expect(again.consumers.map(\.name) == ["old", "others", "sync"])
    if isPrune {
      #expect(try again.consumer("old").lag().isPruned)
      #expect(throws: AnnalsError.self) { try again.consumer("old").history() }
    }
    // Another store is not this one.
    try again.replay(to: "/other.annals", at: Int64(7))
    let copy = try Store(
      StoreLocation(fileSystem: lab.location.fileSystem, path: "/other.annals"), creates: false)
    #expect(copy.consumers.isEmpty)
    #expect(!copy.writer.log.view.features.contains(.consumers))
    try copy.close()
    try again.close()
  }

  @Test func aCheckpointHasThem() throws {
    let store = try lab.open(notes: 3)
    let sync = try store.consumer("sync")
    lab.wait(seconds: 1)
    try sync.advance(to: store.token(at: 1))
    try sync.advance(to: store.token(at: 2))
    try store.checkpoint()
    #expect(try lab.frames(.consumerChange) == 3)
    #expect(try lab.open(.readOnly).consumer("sync").token.number == 2)
    try store.close()
    let again = try lab.open(.readOnly)
    #expect(try again.consumer("sync").token.number == 2)
  }

  /// A change that cannot be read is a finding; the consumer reads again.
  @Test func oneThatIsDamaged() throws {
    let store = try lab.open(notes: 3)
    let sync = try store.consumer("sync")
    try sync.advance(to: store.token(at: 2))
    try store.note("with it")
    try store.note("behind it")
    try store.close()
    let bytes = try lab.files.contents(of: lab.location.path)
    // The last place with the name is the consumer's second change.
    let name = Array("sync".utf8)
    let place = bytes.indices.dropLast(4).last { Array(bytes[$0..<$0 + 4]) == name }
    let offset = try #require(place)
    try lab.files.overwrite([UInt8(ascii: "S")], at: offset, of: lab.location.path)
    let findings = try lab.location.fileSystem.findings(about: lab.location.path)
    #expect(findings.filter { $0.severity == .error }.count == 1)
    let again = try lab.open()
    #expect(again.findings.count == 1)
    #expect(try again.consumer("sync").history().numbers() == [1, 2, 3, 4, 5, 6])
    try again.compact()
    try again.close()
    // And the one that stands for what the damage may have hidden.
    #expect(try lab.frames(.consumerChange) == 2)
  }

  @Test func salvageKeepsThem() throws {
    let store = try lab.open(notes: 3)
    let sync = try store.consumer("sync", kind: "k", blocking: true, lease: .days(1))
    try store.checkpoint()
    try sync.advance(to: store.token(at: 2))
    _ = try store.consumer("other")
    let before = store.consumers
    try store.close()
    _ = try Store.salvage(lab.location, to: "/saved.annals")
    let saved = try Store(
      StoreLocation(fileSystem: lab.location.fileSystem, path: "/saved.annals"), creates: false)
    #expect(saved.consumers.map(\.token) == before.map(\.token))
    #expect(saved.consumers.map(\.lease) == before.map(\.lease))
    #expect(try lab.location.fileSystem.findings(about: "/saved.annals").isEmpty)
  }
}
