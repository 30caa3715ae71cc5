import Annals
import AnnalsModel

extension FixtureRecipe {
  /// Consumers of every form: registered, advanced with a commit and alone, gone back, changed,
  /// removed; in a checkpoint, and behind it.
  static func consumers(in store: Store) throws {
    try edits(in: store)
    let upload = try store.consumer("upload", kind: "sync", blocking: true, lease: .days(30))
    let search = try store.consumer("Suche für Ä", startingAfter: store.token)
    let gone = try store.consumer("gone", lease: .seconds(0))
    try upload.advance(to: store.token(at: Int64(2)))
    try store.write { tx in
      _ = try tx.insert("Note", ["id": "seen"])
      try upload.advance(to: store.token)
    }
    try gone.advance(to: store.token)
    try store.removeConsumer("gone")
    try store.checkpoint()
    try upload.advance(to: store.token(at: Int64(3)), mayGoBack: true)
    try search.advance(to: store.token)
    _ = try store.consumer("Suche für Ä", kind: "index", blocking: true)
    _ = try store.consumer("last")
    _ = try store.write { tx in _ = try tx.insert("Note", ["id": "unseen"]) }
  }

  /// A retention of every form, in a checkpoint and behind it.
  static func retention(in store: Store) throws {
    try edits(in: store)
    try store.setRetention(Retention(days: 30))
    try store.setRetention(.off)
    try store.setRetention(Retention(days: 0.5, transactions: 1_000))
    try store.checkpoint()
    try store.setRetention(Retention(transactions: 3))
    _ = try store.write { tx in _ = try tx.insert("Note", ["id": "last"]) }
  }

  /// Deletes of four transactions, two of them with a large value, that history does not have.
  static func tombstones(in store: Store) throws {
    try edits(in: store)
    try store.require(
      Schema { Entity("Note") { Attribute("mark", .string, isPreservedAfterDeletion: true) } })
    _ = try store.consumer("away", blocking: true, startingAfter: Int64(2))
    let notes = try store.write(author: "Ben") { tx in
      try ["e", "f", "g", "h"].map { id in
        let mark = String(repeating: "\(id) ", count: id < "g" ? 2_500 : 1)
        return try tx.insert("Note", ["id": .string(id), "mark": .string(mark)])
      }
    }
    try store.write(author: "Ann") { tx in
      for note in notes.prefix(2) { try tx.delete(note) }
    }
    try store.write { try $0.delete(notes[2]) }
    try store.prune(store.prunePlan(before: Int64(9)), author: "Ann", force: true)
    try store.write(author: "Ann", context: "clean-up") { try $0.delete(notes[3]) }
    _ = try store.write { tx in _ = try tx.insert("Note", ["id": "i"]) }
    try store.prune(store.prunePlan(before: store.token.number), author: "Ann", force: true)
    try store.checkpoint()
    _ = try store.write { tx in _ = try tx.insert("Note", ["id": "last"]) }
  }
}
