import Annals
import AnnalsLog
import AnnalsModel
import Testing

/// How much of the history is handed out to be tested, counted in blocks.
@Suite struct HistorySkippingTests {
  /// The changes in the blocks that a condition is asked about.
  private func batches(_ store: Store, _ condition: HistoryCondition) throws -> Int {
    let version = store.version
    let filter = HistoryFilter(ResolvedCondition(condition, in: version.glossary()))
    var cursor = try version.view.history(
      after: store.base.number, through: store.token.number, direction: .backward,
      skipping: filter)
    var batch = ChangeBatch()
    var count = 0
    while try cursor.next(into: &batch) { count += 1 }
    return count
  }

  /// Whoever looks for all objects that had a key is shown only the blocks in which one may have
  /// lost it.
  @Test func formerHoldersOfAKeyAreLookedForWhereTheyCanBe() throws {
    let store = try noteStore(memoryFile())
    let filler = String(repeating: "some text or other ", count: 200)
    // Some blocks of inserts, some of updates, and two that rename or delete.
    try store.write { tx in try tx.insert("Note", ["id": "old", "text": "x"]) }
    for index in 0..<600 {
      try store.write { tx in
        try tx.insert("Note", ["id": .string("n\(index)"), "text": .string("\(index)\(filler)")])
      }
    }
    let notes = try store.snapshot().objects(of: "Note").map(\.id)
    for (index, note) in notes.enumerated() {
      try store.write { tx in try tx.update(note, ["text": .string("\(index) new \(filler)")]) }
    }
    try store.write { tx in try tx.update(notes[3], ["id": "renamed"]) }
    try store.write { tx in try tx.delete(notes[9]) }
    try store.compact()
    let all = try batches(store, .always)
    #expect(all > 5)
    // One that is sealed last holds the rename and the delete.
    #expect(try batches(store, .touches("Note", "id") && !.kind(.insert)) <= 2)
    #expect(try batches(store, .touches("Note", "id")) < all)
    #expect(try batches(store, .kind(.delete)) <= 2)
    let found = try store.history(where: .touches("Note", "id") && !.kind(.insert)).collect()
    #expect(found.map(\.number) == [store.token.number - 1, store.token.number])
  }
}
