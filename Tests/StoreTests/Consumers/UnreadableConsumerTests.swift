import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// A consumer's record that cannot be read may be that of a blocking consumer: all history is kept.
/// Such a consumer was forgotten, and a prune dropped what it had not read.
struct UnreadableConsumerTests {
  private let lab = ConsumerLab()

  /// A store with a blocking consumer, one bit of whose record is flipped.
  private func damaged() throws -> (store: Store, name: String) {
    let store = try lab.open(notes: 9)
    _ = try store.consumer("slow", blocking: true)
    try store.close()
    let place = try #require(lab.places(.consumerChange).first)
    try lab.files.flip(4, at: place + 30, of: lab.location.path)
    return (try lab.open(), "unreadable record at \(place)")
  }

  private func expectBlocked(_ store: Store, by name: String) throws {
    let plan = try store.prunePlan(before: Int64(5))
    #expect(plan.blockers.map(\.name) == [name])
    let error = #expect(throws: AnnalsError.self) { try store.prune(plan) }
    #expect(error?.code == .blocked && error?.blockers == [name])
  }

  @Test func allHistoryIsKept() throws {
    let (store, name) = try damaged()
    let finding = try #require(store.findings.first)
    #expect(finding.message.contains("all history is kept"), "\(finding.message)")
    #expect(!finding.message.contains("Nothing is lost"), "\(finding.message)")
    #expect(store.consumers.map(\.name) == [name])
    try expectBlocked(store, by: name)
    // A checkpoint and a compaction leave the record behind, and keep what stands for it.
    try store.note("more")
    try store.checkpoint()
    try expectBlocked(store, by: name)
    try store.close()
    let again = try lab.open()
    try expectBlocked(again, by: name)
    #expect(try again.compact().isRewritten)
    #expect(try lab.files.findings(about: lab.location.path) == [])
    try again.close()
    try expectBlocked(lab.open(), by: name)
  }

  @Test func aCompactionMendsTheFileAtAnySize() throws {
    let store = try lab.open(notes: 9)
    try store.compact(smallest: true)
    try store.close()
    let sealed = try lab.open()
    _ = try sealed.consumer("slow", blocking: true)
    try sealed.close()
    let place = try #require(lab.places(.consumerChange).first)
    try lab.files.flip(4, at: place + 30, of: lab.location.path)
    let found = try lab.files.findings(about: lab.location.path)
    #expect(found.contains { $0.severity == .error && $0.remedy.contains("Compact") }, "\(found)")
    try lab.open().compact(smallest: true)
    #expect(try lab.files.findings(about: lab.location.path) == [])
  }

  @Test func forceAndRemovalEndIt() throws {
    let (store, name) = try damaged()
    try store.prune(store.prunePlan(before: Int64(4)), force: true)
    #expect(store.base.number == 3)
    try expectBlocked(store, by: name)
    #expect(try store.removeConsumer(name))
    try store.prune(store.prunePlan(before: Int64(5)))
    #expect(store.base.number == 4 && store.consumers == [])
    try store.close()
    #expect(try lab.open().findings == [])
  }

  @Test func aKnownConsumerStaysWhereItWas() throws {
    let store = try lab.open(notes: 9)
    let slow = try store.consumer("slow", blocking: true)
    lab.wait(seconds: 10)
    try slow.advance(to: store.token(at: 7))
    try store.close()
    let place = try #require(lab.places(.consumerChange).last)
    try lab.files.flip(4, at: place + 30, of: lab.location.path)
    let again = try lab.open()
    #expect(again.consumers.map(\.token.number) == [0, 0])
    #expect(try again.consumer("slow").history().numbers() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  }

  @Test func aSalvageKeepsItToo() throws {
    let (store, name) = try damaged()
    try store.close()
    _ = try Store.salvage(lab.location, to: "/saved.annals")
    let location = StoreLocation(fileSystem: lab.files, path: "/saved.annals")
    try expectBlocked(Store(location, creates: false), by: name)
  }
}
