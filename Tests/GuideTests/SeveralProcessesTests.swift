import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Entry: Record {
  var id: String
  var title: String
  var pages: Int
  static let entity = RecordEntity(
    "Entry", Entry.init,
    Property("id", \.id).unique().preservedAfterDeletion(), Property("title", \.title),
    Property("pages", \.pages))
}

private func bringUpToDate(_ copy: inout [ObjectID: Entry], from store: Store) throws {
  let sync = try store.consumer("copy", blocking: true, lease: .days(30))
  guard try copy.isEmpty || sync.lag().isPruned else {
    let unread = try sync.unread(notBy: "copy", where: .touches(Entry.self))
    let now = store.snapshot()
    // Without the condition the ids would be those of all record types.
    for id in try unread.objectIDs() { copy[id] = try now.object(Entry.self, id)?.value }
    return try sync.advance(to: unread.end)
  }
  let resync = try sync.resync()  // it is new, was away longer than its lease, or passed by force
  for entry in try resync.snapshot.objects(of: Entry.self) { copy[entry.id] = entry.value }
  try resync.forEachTombstone { print("gone:", try $0.tombstone(as: Entry.self)?.id ?? "?") }
  for id in copy.keys where try !resync.contains(id) { copy[id] = nil }
  try sync.advance(to: resync.token)
}

/// The code of *Several processes*.
@Suite(.deadline) struct SeveralProcessesTests {
  @Test func twoWritersAndAConsumer() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try Store(path: path, records: Entry.self)
    let other = try Store(path: path, records: Entry.self)  // another process would do the same
    let entry = try store.write(author: "app") {
      try $0.insert(Entry(id: "fog", title: "Fog", pages: 1))
    }

    let seen = store.snapshot().token
    try other.write(author: "extension") { try $0.set(\.title, of: entry, to: "Mist") }

    do {  // without a policy the same property is refused
      try store.write(author: "app", basedOn: seen) { try $0.set(\.title, of: entry, to: "Dew") }
    } catch let error as AnnalsError where error.code == .conflict {
      for conflict in error.conflicts { print(conflict) }
    }

    let commit = try store.commit(author: "app", basedOn: seen, merging: .storedWins) { tx in
      try tx.set(\.title, of: entry, to: "Dew")
      try tx.set(\.pages, of: entry, to: 7)
    }
    for conflict in commit.conflicts { print("settled:", conflict) }

    let sync = try store.consumer("sync", blocking: true)
    let unread = try sync.unread(notBy: "app")
    try unread.forEach { transaction in
      for change in transaction.changes { print("to send:", change) }
    }
    try sync.advance(to: unread.end)

    let copy = folder.path("copy.annals")
    let end = try store.backup(to: copy)
    #expect(try Store(path: copy).token == end)

    let merged = try #require(try store.snapshot().object(Entry.self, entry.id))
    #expect(merged.title == "Mist" && merged.pages == 7)
    #expect(commit.conflicts.count == 1)
    #expect(try sync.lag().transactions == 0)
  }

  @Test func aCopyStaysLevel() throws {
    let store = try Store(.memory, records: Entry.self)
    var copy: [ObjectID: Entry] = [:]
    func requireLevel() throws {
      try bringUpToDate(&copy, from: store)
      let present = try store.snapshot().objects(of: Entry.self)
      let titles = Dictionary(uniqueKeysWithValues: present.map { ($0.id, $0.title) })
      #expect(copy.mapValues(\.title) == titles)
    }
    let entries = try (1...5).map { number in
      try store.write { try $0.insert(Entry(id: "e\(number)", title: "t", pages: number)) }
    }
    try requireLevel()
    try store.write { try $0.delete(entries[0]) }
    try store.write { try $0.set(\.title, of: entries[1], to: "new") }
    try requireLevel()
    try store.write { try $0.delete(entries[2]) }
    try store.write { try $0.insert(Entry(id: "e6", title: "t", pages: 6)) }
    try store.prune(store.prunePlan(before: store.token), force: true)
    #expect(copy.count == 4)
    try requireLevel()
  }

  @Test func whatOthersWrite() async throws {
    let store = try Store(.memory, records: Entry.self)
    let seen = store.token
    try await store.write(author: "extension") {
      try $0.insert(Entry(id: "fog", title: "Fog", pages: 1))
    }

    let stream = try store.changes(after: seen, where: .author != "app")
    for try await transaction in stream {
      print(transaction.author ?? "-", "wrote", transaction.changes.count)
      break  // a program would go on
    }
    #expect(store.token.number == seen.number + 1)
  }
}
