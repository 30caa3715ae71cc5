import Annals

/// How many notes there are: a projection whose saved state must survive whatever is survived.
struct NoteCount: Projection, Codable {
  static let name = "note count"
  static let version = 1
  var count = 0

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes where change.entityName == "Note" {
      switch change.kind {
      case .insert: count += 1
      case .delete: count -= 1
      case .update: break
      }
    }
  }
}

extension NoteCount {
  init(base: Snapshot) throws {
    guard base.schema.entities.contains(where: { $0.name == "Note" }) else { return }
    count = try base.count(of: "Note")
  }

  /// Throws `BrokenPromise` if the store's projection is not what its newest state says.
  static func requireLevel(_ store: Store) throws {
    let found = try store.projection(NoteCount.self)
    let expected = try NoteCount(base: store.snapshot())
    guard found == expected else {
      throw BrokenPromise("the projection counts \(found.count) notes of \(expected.count)")
    }
  }
}
