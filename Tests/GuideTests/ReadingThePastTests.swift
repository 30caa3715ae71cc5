import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Entry: Record {
  var id: String
  var title: String
  static let entity = RecordEntity(
    "Entry", Entry.init,
    Property("id", \.id).unique().preservedAfterDeletion(), Property("title", \.title))
}

/// The code of *Reading the past*.
@Suite struct ReadingThePastTests {
  @Test func anAuthorUndoesAndRedoes() throws {
    let store = try Store(.memory, records: Entry.self)
    let entry = try store.write(author: "ann") { try $0.insert(Entry(id: "fog", title: "Fog")) }

    try store.write(author: "ann", group: "word") { try $0.set(\.title, of: entry, to: "Mis") }
    try store.write(author: "ben") { try $0.insert(Entry(id: "dew", title: "Dew")) }
    try store.write(author: "ann", group: "word") { try $0.set(\.title, of: entry, to: "Mist") }
    let next = try store.undoable(author: "ann", limit: 1).first
    print("Undo", next?.group ?? "", next?.count ?? 0)  // Undo word 2
    try store.undo(author: "ann")  // both, and nothing of ben's
    try store.redo(author: "ann")

    #expect(next?.count == 2 && next?.group == "word")
    #expect(try store.snapshot().objects(of: Entry.self).map(\.title) == ["Mist", "Dew"])
    try store.undo(author: "ann")
    #expect(try store.snapshot().objects(of: Entry.self).map(\.title) == ["Fog", "Dew"])
  }

  @Test func everyPastStateIsOneCallAway() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try Store(path: path, records: Entry.self)
    let entry = try store.write(author: "ann") { try $0.insert(Entry(id: "fog", title: "Fog")) }
    let token = store.token
    try store.write(author: "me") { try $0.set(\.title, of: entry, to: "Mist") }
    try store.write(author: "me") { try $0.delete(entry) }

    let byToken = try store.snapshot(at: token)
    let byNumber = try store.snapshot(at: 2)
    let byDate = try store.snapshot(at: Date.now)
    print(try byToken.objects(of: Entry.self).map(\.title))

    let mine = try store.history(after: token, where: .author == "me" && .touches(\Entry.title))
    try mine.forEach { transaction in
      for change in transaction.changes {
        print(transaction.number, change.kind, try change.before(\Entry.title) ?? "nothing")
      }
    }

    try store.history(of: entry.id).forEachChange { change in
      print(change.transactionNumber, change.changedProperties)
    }
    let newest = try store.history().reversed().collect(limit: 20)  // an array

    let difference = try store.diff(from: token, to: store.token)
    for change in difference.changes { print(change) }

    let blame = try store.blame(entry.id, at: 3)
    for line in blame { print(line.property, line.value, line.transaction?.author ?? "-") }

    let plan = try store.revertPlan(4)  // what it would do
    print(plan.revivals, plan.conflicts.count)
    try store.revert(4, author: "me")

    let before = try store.prunePlan(before: 3)
    print(before.transactions, "transactions would go, with", before.changes, "changes")
    try store.prune(before)
    do {
      _ = try store.snapshot(at: 1)
    } catch {
      print(error.code == .pruned, error.gap?.requestedDate as Any)
    }

    #expect(try byToken.objects(of: Entry.self).map(\.title) == ["Fog"])
    #expect(try byNumber.objects(of: Entry.self).map(\.title) == ["Fog"])
    #expect(try byDate.count(of: Entry.self) == 0)
    #expect(try mine.count() == 2)
    #expect(newest.map(\.number) == [4, 3, 2, 1])
    #expect(try store.history(where: .touches(Entry.self)).count() == 3)
    #expect(try store.snapshot().objects(of: Entry.self).map(\.title) == ["Mist"])
    #expect(blame.contains { $0.property == "title" && $0.transaction?.author == "me" })

    try store.erase(entry.id, properties: ["title"], reason: "asked for", author: "me")
    print(try store.snapshot().isErased(\Entry.title, of: entry.id))

    #expect(try store.snapshot(at: 3).isErased(\Entry.title, of: entry.id))
  }
}
