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
}
