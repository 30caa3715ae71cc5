import Annals
import AnnalsFaults
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

  /// Checks that the file that is left is sound, holds what was promised up to `number`, and can be
  /// written again.
  ///
  /// - Throws: `BrokenPromise`.
  func check(
    _ files: FaultyFileSystem, upTo number: Int64 = .max, mayBeGone: Bool
  ) throws {
    guard try files.identity(of: WorkSession.path) != nil else {
      if !mayBeGone { throw BrokenPromise("the store is gone") }
      return
    }
    try files.requireSoundBytes()
    let store = try Store(
      files.location(), creates: false, environment: WorkSession.environment(9_001))
    try check(store, upTo: number)
    try SurvivorCheck.commitOnce(store)
    try store.requireVerified()
    try store.close()
    try files.requireCleanBytes()
  }

  /// Checks that every transaction but the first, which adds the schema, is one complete note that
  /// was not refused, and is there once; that state and history agree; and that no acknowledged one
  /// up to `number` is missing.
  ///
  /// - Throws: `BrokenPromise`.
  private func check(_ store: Store, upTo number: Int64) throws {
    var seen: Set<String> = []
    var numbers: [String: Int64] = [:]
    try store.history().forEach { transaction in
      if transaction.number == 1 { return }
      let changes = Array(transaction.changes)
      guard changes.count == 1, let change = changes.first, change.kind == .insert,
        case .string(let id) = change.after("id"), seen.insert(id).inserted
      else { throw BrokenPromise("transaction \(transaction.number) is not one that was begun") }
      guard transaction.author == NoteLedger.author(of: id),
        try Note.holds(change.after("text"), NoteLedger.text(of: id), in: store)
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
    let count = try store.schema.hasNotes ? store.snapshot().count(of: "Note") : 0
    guard count == seen.count else {
      throw BrokenPromise("state and history differ")
    }
  }
}
