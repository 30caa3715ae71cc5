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

  /// The deletion is the last change, also where the property was cleared before.
  @Test func aDeletionIsTheLastChangeOfEveryProperty() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "base")
    let seen = store.token
    try store.write { try $0.update(note, ["text": .null]) }
    try store.write { try $0.update(note, ["count": 1]) }
    try store.write { try $0.delete(note) }
    let conflicts = try store.commit(basedOn: seen, merging: .storedWins) {
      try $0.update(note, ["text": "mine", "count": 2])
    }.conflicts
    #expect(conflicts.map(\.property) == ["text", "count"])
    #expect(conflicts.allSatisfy { $0.isDeletion && $0.changedBy == store.token.number })
  }

  /// Whoever sets what readers saw anyway has changed nothing.
  @Test func aDefaultForANullIsNoConflict() throws {
    let store = try noteStore()
    let note = try store.note("a")
    try store.require(
      Schema { Entity("Note") { Attribute("rank", .int64, isOptional: false, default: 7) } })
    let seen = store.token
    try store.write { try $0.update(note, ["rank": 7, "count": 1]) }
    for policy in MergePolicy.allCases where policy != .error {
      let conflicts = try store.commit(basedOn: seen, merging: policy) { tx in
        try tx.update(note, ["rank": 9])
      }.conflicts
      // An overwrite sets the count back.
      let wanted = policy == .overwrite ? ["count"] : policy == .rollBack ? ["rank"] : []
      #expect(conflicts.compactMap(\.property) == wanted, "\(policy)")
      try store.write { try $0.update(note, ["rank": 7, "count": 1]) }
    }
  }

  /// What was erased with its object stays erased where a merge brings the object back.
  @Test(arguments: MergePolicy.allCases.filter { $0 != .error })
  func whatWasErasedWithItsObjectIsChanged(_ policy: MergePolicy) throws {
    let store = try noteStore()
    let note = try store.note("a", text: "secret")
    let seen = store.token
    try store.erase(note, reason: "asked")
    try store.write(basedOn: seen, merging: .ownWins) { try $0.update(note, ["count": 5]) }
    guard try store.snapshot().object(note) != nil else {
      Issue.record("the object was not revived")
      return
    }
    let conflicts = try store.commit(basedOn: seen, merging: policy) {
      try $0.update(note, ["text": "mine"])
    }.conflicts
    #expect(conflicts.contains { $0.property == "text" }, "\(conflicts)")
    let keepsOwn = policy == .ownWins || policy == .overwrite
    #expect((try store.snapshot().object(note)?["text"] == "mine") == keepsOwn)
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
