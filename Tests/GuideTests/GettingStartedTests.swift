import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Entry: Record {
  var id: UUID
  var title: String
  var date: Date
  var mood: String?

  static let entity = RecordEntity(
    "Entry", Entry.init,  // name, memberwise initialiser, properties in its order
    Property("id", \.id).unique(),
    Property("title", \.title),
    Property("date", \.date).indexed(.descending),
    Property("mood", \.mood))
}

/// The code of *Getting started*.
@Suite struct GettingStartedTests {
  @Test func theFirstStore() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")

    let store = try Store(path: path, records: Entry.self)
    let fog = try store.write(author: "me") { tx in
      try tx.insert(Entry(id: UUID(), title: "Fog", date: .now, mood: nil))
    }

    try store.write(author: "me", context: "editor") { tx in
      try tx.update(fog) { $0.title = "Fog at dawn" }
      try tx.set(\.mood, of: fog, to: "calm")
    }

    let seen = store.snapshot()
    let newest = try seen.objects(
      of: Entry.self, where: \.mood == "calm", sortedBy: .descending(\.date), limit: 20)
    for entry in newest { print(entry.date, entry.title) }

    var edited = newest[0]
    edited.title = "Mist"
    edited = try store.write(author: "me", basedOn: seen.token, merging: .ownWins) { tx in
      try tx.save(edited)
    }

    try store.history().forEach { transaction in
      print(transaction.number, transaction.author ?? "-", transaction.timestamp)
      for change in transaction.changes { print("  ", change) }
    }

    let first = try store.snapshot(at: 2)  // the state after transaction 2
    print(try first.objects(of: Entry.self).map(\.title))

    try store.revert(4, author: "me")

    do {
      let same = fog.value.id
      try store.write { tx in try tx.insert(Entry(id: same, title: "Dew", date: .now, mood: nil)) }
    } catch let error as AnnalsError {
      print(error)
      for violation in error.violations { print(violation.property, violation.rule) }
    }

    try store.close()

    #expect(newest.map(\.title) == ["Fog at dawn"])
    #expect(try first.objects(of: Entry.self).map(\.title) == ["Fog"])
    let reopened = try Store(path: path, records: Entry.self)
    #expect(try reopened.snapshot().objects(of: Entry.self).map(\.title) == ["Fog at dawn"])
    #expect(reopened.token.number == 5)
  }
}
