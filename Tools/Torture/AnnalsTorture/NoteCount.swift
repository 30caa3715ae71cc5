import Annals

/// A projection that counts the notes. Its saved state must survive like the store.
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
    guard base.schema.hasNotes else { return }
    count = try base.count(of: "Note")
  }

  /// Throws `BrokenPromise` if the projection does not agree with the newest state.
  static func requireConsistent(_ store: Store) throws {
    let found = try store.projection(NoteCount.self)
    let expected = try NoteCount(base: store.snapshot())
    guard found == expected else {
      throw BrokenPromise("the projection counts \(found.count) notes of \(expected.count)")
    }
  }
}
