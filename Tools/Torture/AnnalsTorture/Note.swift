import Annals
import AnnalsModel

/// The contents of the stores under torture: notes with a key, in folders.
enum Note {
  static let schema = Schema {
    Entity("Note", displayName: "text") {
      Attribute("id", .string, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)
      Attribute("text", .string)
      Attribute("count", .int64)
      Attribute("body", .data)
      Relationship("folder", to: "Folder")
    }
    Entity("Folder") {
      Attribute("name", .string, isUnique: true)
      Relationship("notes", to: "Note", isToMany: true, isOrdered: true)
    }
  }

  /// Whether a stored value is this text.
  static func holds(_ value: Value, _ text: String, in store: Store) throws -> Bool {
    switch value {
    case .string(let stored): stored.hasSameBytes(as: text)
    case .large(let large): try store.bytes(of: large) == Array(text.utf8)
    default: text.isEmpty
    }
  }
}

extension Schema {
  /// Whether it has the notes.
  var hasNotes: Bool { entity(named: "Note") != nil }
}

extension WorkSession {
  /// Commits a transaction of random changes, a few of them to large values.
  package func commitSomething(_ store: Store) throws {
    var numbers = random
    try commit(store, author: ["ann", "bob", "eve"].randomElement(using: &numbers) ?? "ann") {
      try WorkSession.insertNote($0, text: numbers.text(Int.random(in: 0...200, using: &numbers)))
      for _ in 0..<Int.random(in: 0...3, using: &numbers) {
        try WorkSession.changeSomething($0, &numbers)
      }
    }
    random = numbers
  }

  /// Inserts a note under the next key.
  @discardableResult
  static func insertNote(_ tx: WriteTransaction, text: String) throws -> ObjectID {
    // Rows are never reused, so deleted notes count, too.
    let last = try tx.objects(of: "Note").last?.objectID.row ?? 0
    return try tx.insert("Note", ["id": .string("note \(last + 1)"), "text": .string(text)])
  }

  private static func changeSomething(
    _ tx: WriteTransaction, _ numbers: inout SeededNumbers
  ) throws {
    let notes = try tx.objects(of: "Note").map(\.objectID)
    guard let note = notes.dropLast().randomElement(using: &numbers) else { return }
    switch UInt64.random(in: 0..<10, using: &numbers) {
    case 0...2: try tx.update(note, ["text": .string(numbers.text(60))])
    case 3...4: try tx.update(note, ["count": .int(Int64.random(in: 0..<99, using: &numbers))])
    case 5: try tx.update(note, ["text": .null])
    case 6: try tx.update(note, ["body": .data(numbers.bytes(5_000))])
    case 7: try tx.delete(note)
    default:
      let name = "folder \(UInt64.random(in: 0..<3, using: &numbers))"
      let folders = try tx.objects(of: "Folder")
      let reference = ObjectReference(entity: note.entity, row: note.row)
      if let folder = folders.first(where: { $0["name"] == .string(name) }) {
        try tx.update(folder.objectID, ["notes": .objects([reference])])
        let target = ObjectReference(entity: folder.objectID.entity, row: folder.objectID.row)
        try tx.update(note, ["folder": .object(target)])
      } else {
        try tx.insert("Folder", ["name": .string(name), "notes": .objects([reference])])
      }
    }
  }
}
