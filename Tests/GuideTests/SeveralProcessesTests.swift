import Annals
import Foundation
import Testing

private struct Entry: Record {
  var id: String
  var title: String
  var pages: Int
  static let entity = RecordEntity(
    "Entry", Entry.init,
    Property("id", \.id).unique(), Property("title", \.title), Property("pages", \.pages))
}

/// The code of *Several processes*.
@Suite struct SeveralProcessesTests {
  @Test func twoWritersAndAConsumer() throws {
    let path = try temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
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
    try sync.unread(notBy: "app").forEach { transaction in
      for change in transaction.changes { print("to send:", change) }
    }
    try sync.advance(to: store.token)

    let merged = try #require(try store.snapshot().object(Entry.self, entry.id))
    #expect(merged.title == "Mist" && merged.pages == 7)
    #expect(commit.conflicts.count == 1)
    #expect(try sync.lag().transactions == 0)
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
