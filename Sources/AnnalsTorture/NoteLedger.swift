import Annals
import AnnalsStorage

/// The promises to commits whose order or outcome differs from run to run. Each note has its own
/// key, which determines its text.
struct NoteLedger: Sendable {
  /// The notes of commits that returned, by number.
  var acknowledged: [Int64: String] = [:]
  /// The notes whose commits failed without effect.
  var refused: Set<String> = []

  /// Commits the note of a key, which begins with the number of its writer.
  ///
  /// - Returns: the number of the transaction.
  static func commit(_ id: String, to store: Store) throws -> Int64 {
    let token = try store.commit(author: author(of: id)) { tx in
      _ = try tx.insert("Note", ["id": .string(id), "text": .string(text(of: id))])
    }.token
    return token.number
  }

  private static func author(of id: String) -> String { "writer \(id.prefix { $0 != " " })" }

  /// The text of a note.
  private static func text(of id: String) -> String {
    var numbers = SeededNumbers(seed: 5, id)
    return numbers.text(Int.random(in: 0...6_000, using: &numbers))
  }

  /// Checks that every transaction but the first, which adds the schema, is one complete note that
  /// was not refused, and is there once; that state and history agree; and that no acknowledged one
  /// up to `number` is missing.
  ///
  /// - Throws: `BrokenPromise`.
  func check(_ store: Store, upTo number: Int64 = .max) throws {
    var seen: Set<String> = []
    var numbers: [String: Int64] = [:]
    try store.history().forEach { transaction in
      if transaction.number == 1 { return }
      let changes = Array(transaction.changes)
      guard changes.count == 1, let change = changes.first, change.kind == .insert,
        case .string(let id) = change.after("id"), seen.insert(id).inserted
      else { throw BrokenPromise("transaction \(transaction.number) is not one that was begun") }
      guard transaction.author == NoteLedger.author(of: id),
        try Array(NoteLedger.text(of: id).utf8) == bytes(change.after("text"), store)
      else { throw BrokenPromise("transaction \(transaction.number) is not whole") }
      guard !refused.contains(id) else {
        throw BrokenPromise("transaction \(transaction.number) was refused, and is there")
      }
      numbers[id] = transaction.number
    }
    for (place, id) in acknowledged where place <= number && numbers[id] != place {
      let found = numbers[id].map { "is \($0)" } ?? "is gone"
      throw BrokenPromise("transaction \(place), acknowledged, \(found)")
    }
    let hasNotes = store.schema.entities.contains { $0.name == "Note" }
    guard try hasNotes ? store.snapshot().count(of: "Note") == seen.count : seen.isEmpty else {
      throw BrokenPromise("state and history differ")
    }
  }

  private func bytes(_ value: Value, _ store: Store) throws -> [UInt8] {
    switch value {
    case .string(let text): Array(text.utf8)
    case .large(let large): try store.bytes(of: large)
    default: []
    }
  }
}
