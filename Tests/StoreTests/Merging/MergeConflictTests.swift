import Annals
import AnnalsModel
import Testing

/// What the conflicts of a merge tell.
@Suite struct MergeConflictTests {
  /// It lost its key before it was deleted, so the key names it no more.
  @Test func aDeletedObjectHasTheNameThatItHadThen() throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Tag") {
          Attribute("key", .string, isUnique: true)
          Attribute("text", .string)
        }
      })
    let (one, two) = try store.write { tx in
      (try tx.insert("Tag", ["key": "one"]), try tx.insert("Tag", ["key": "two"]))
    }
    let seen = store.token
    try store.write { try $0.update(one, ["key": .null]) }
    try store.write { tx in
      try tx.delete(one)
      try tx.delete(two)
    }
    let conflicts = try store.commit(basedOn: seen, merging: .storedWins) { tx in
      for tag in [one, two] { try tx.update(tag, ["text": "mine"]) }
    }.conflicts
    #expect(conflicts.map(\.objectName) == ["Tag#1", "Tag/two"])
  }

  /// A null of an attribute that was added with a default is told as readers see it.
  @Test func aConflictTellsTheDefaultForANullOfBefore() throws {
    let store = try noteStore()
    let note = try store.note("a")
    try store.require(
      Schema { Entity("Note") { Attribute("rank", .int64, isOptional: false, default: 7) } })
    let seen = store.token
    try store.write { try $0.update(note, ["rank": 8]) }
    let conflicts = try store.commit(basedOn: seen, merging: .ownWins) { tx in
      try tx.update(note, ["rank": 9])
    }.conflicts
    #expect(conflicts.map { [$0.base, $0.stored, $0.own] } == [[7, 8, 9]])
  }

  /// So many bytes of large values are read for conflicts, and no more.
  @Test func conflictsReadALimitedAmountOfLargeValues() throws {
    let store = try noteStore()
    let note = try store.note("a", text: String(repeating: "a", count: 6 << 20))
    let seen = store.token
    try store.write {
      try $0.update(note, ["text": .string(String(repeating: "b", count: 6 << 20))])
    }
    let conflicts = try store.commit(basedOn: seen, merging: .ownWins) { tx in
      try tx.update(note, ["text": .string(String(repeating: "c", count: 6 << 20))])
    }.conflicts
    let conflict = try #require(conflicts.first)
    #expect(conflict.base?.tag == .string && conflict.stored?.tag == .string)
    guard case .string = conflict.base, case .string = conflict.stored, case .large = conflict.own
    else {
      Issue.record("other values were read than the first 12 MiB")
      return
    }
  }
}
