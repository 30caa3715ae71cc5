import Annals
import AnnalsModel
import Testing

/// Writes with a merge policy, beyond what the table says.
@Suite struct MergeTests {
  @Test func theClosureReadsTheStateThatItIsBasedOnAndItsOwnChanges() throws {
    let store = try noteStore()
    let first = try store.note("a", text: "old")
    let gone = try store.note("b", text: "old")
    let seen = store.token
    try store.write { tx in
      try tx.update(first, ["text": "new"])
      try tx.delete(gone)
      try tx.insert("Note", ["id": "c", "text": "old"])
    }
    let old = Fetch(TextNote.self).where(\.text == "old")
    let commit = try store.commit(basedOn: seen, merging: .storedWins) { tx -> ObjectID? in
      #expect(try tx.fetch(old).map(\.value.id) == ["a", "b"])
      #expect(try tx.object(of: "Note", where: "id", is: "c") == nil)
      try tx.insert("Note", ["id": "d", "text": "old"])
      #expect(try tx.count(of: "Note") == 3)
      let count = try tx.update(TextNote.self, where: \.text == "old") { $0.text = "mine" }
      #expect(count == 3)
      #expect(try tx.fetch(old).isEmpty)
      return try tx.object(of: "Note", where: "id", is: "d")?.objectID
    }
    #expect(try store.ids() == ["a", "c", "d"] && store.texts() == ["new", "old", "mine"])
    // The inserted object has a row that nobody had, and its id is valid.
    #expect(commit.value?.row == 4)
    let found = try store.snapshot().object(try #require(commit.value))
    #expect(found?["id"] == "d")
    #expect(
      commit.conflicts.map(\.description) == [
        "Note/a.text, changed by transaction 4: was \"old\", is \"new\", would be \"mine\"",
        "Note/b.text, deleted by transaction 4: was \"old\", is deleted, would be \"mine\"",
      ])
    // The record says what was before it, not what the closure saw.
    let changes = try store.transaction(commit.token.number).changes
    #expect(changes.map { $0.kind } == [ChangeKind.insert])
  }

  /// Within a process no row is given twice, whatever becomes of its object.
  @Test func rowsOfObjectsThatCameAndWentAreNotGivenAgain() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let seen = store.token
    try store.write { try $0.update(note, ["count": 1]) }
    let gone = try store.write(basedOn: seen, merging: .ownWins) { tx -> ObjectID in
      let gone = try tx.insert("Note", ["id": "b"])
      try tx.delete(gone)
      try tx.update(note, ["text": "mine"])
      return gone
    }
    #expect(try store.note("c").row > gone.row)
  }

  @Test func anEmptyResultRecordsNothing() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let seen = store.token
    try store.write { try $0.update(note, ["count": 1]) }
    let head = store.token
    for policy in MergePolicy.allCases {
      // Both made the same of it.
      let commit = try store.commit(basedOn: seen, merging: policy) {
        try $0.update(note, ["count": 1])
      }
      #expect(commit.token == head && commit.conflicts.isEmpty)
    }
    let commit = try store.commit(basedOn: seen, merging: .rollBack) {
      try $0.update(note, ["text": "mine"])
    }
    #expect(commit.token == head)
    #expect(commit.conflicts.map(\.property) == ["text"])
  }

  @Test func differentPropertiesOfOneObjectAreAConflictForErrorAlone() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "old")
    let other = try store.note("b", text: "old")
    let seen = store.token
    try store.write { try $0.update(note, ["count": 1]) }
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen, merging: .error) { try $0.update(note, ["text": "mine"]) }
    }
    #expect(error?.code == .conflict)
    #expect(error?.conflicts.map(\.property) == ["text", "count"])
    // Another object is none.
    try store.write(basedOn: seen, merging: .error) { try $0.update(other, ["text": "mine"]) }
    let commit = try store.commit(basedOn: seen, merging: .ownWins) {
      try $0.update(note, ["text": "mine"])
    }
    #expect(commit.conflicts.isEmpty)
    #expect(try store.snapshot().object(note)?["count"] == 1)
    // Overwriting sets back what only others changed.
    let overwriting = try store.commit(basedOn: seen, merging: .overwrite) {
      try $0.update(note, ["text": "again"])
    }
    #expect(try store.snapshot().object(note)?["count"] == .null)
    #expect(overwriting.conflicts.map(\.property) == ["text", "count"])
  }

  @Test func aDeletedObjectIsRevivedUnderItsOwnIDWithAllItHad() throws {
    let store = try noteStore()
    let folder = try store.write { try $0.insert("Folder", ["name": "f"]) }
    let target = ObjectReference(folder)
    let note = try store.write {
      try $0.insert("Note", ["id": "a", "text": "old", "folder": .object(target)])
    }
    let seen = store.token
    try store.write { tx in
      try tx.delete(note)
      try tx.delete(folder)
    }
    try store.write(basedOn: seen, merging: .ownWins) { try $0.update(note, ["count": 7]) }
    let revived = try #require(try store.snapshot().object(note))
    #expect(revived["text"] == "old" && revived["count"] == 7 && revived["id"] == "a")
    // What it refers to is gone, and comes back with it.
    #expect(revived["folder"] == .null)
    try store.write(basedOn: seen, merging: .ownWins) {
      try $0.update(folder, ["name": "g"])
    }
    #expect(try store.snapshot().object(note)?["folder"] == .object(target))
  }

  @Test func aNewReferenceToWhatOthersDeletedIsRefused() throws {
    let store = try noteStore()
    let folder = try store.write { try $0.insert("Folder", ["name": "f"]) }
    let seen = store.token
    try store.write { try $0.delete(folder) }
    let head = store.token
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen, merging: .ownWins) { tx in
        try tx.insert(
          "Note",
          [
            "id": "a",
            "folder": .object(ObjectReference(folder)),
          ])
      }
    }
    #expect(error?.code == .invalidChange && store.token == head)
  }

  @Test func orderedListsAreMergedByReference() throws {
    let store = try noteStore()
    let notes = try ["a", "b", "c"].map { try store.note($0) }
      .map { ObjectReference($0) }
    let folder = try store.write {
      try $0.insert("Folder", ["name": "f", "notes": .objects([notes[0]])])
    }
    let seen = store.token
    try store.write { try $0.update(folder, ["notes": .objects([notes[0], notes[1]])]) }
    let commit = try store.commit(basedOn: seen, merging: .ownWins) {
      try $0.update(folder, ["notes": .objects([notes[2], notes[0]])])
    }
    #expect(
      try store.snapshot().object(folder)?["notes"] == .objects([notes[2], notes[0], notes[1]]))
    #expect(commit.conflicts.isEmpty)
  }

  @Test func equalLargeValuesAreNoConflict() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let long = String(repeating: "x", count: 10_000)
    let seen = store.token
    try store.write { try $0.update(note, ["text": .string(long)]) }
    let head = store.token
    let commit = try store.commit(basedOn: seen, merging: .error) {
      try $0.update(note, ["text": .string(long)])
    }
    #expect(commit.token == head && commit.conflicts.isEmpty)
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen, merging: .error) {
        try $0.update(note, ["text": .string(long + "y")])
      }
    }
    #expect(error?.conflicts.first?.own == .string(long + "y"))
    #expect(error?.conflicts.first?.stored == .string(long))
    try store.write(basedOn: seen, merging: .overwrite) {
      try $0.update(note, ["text": .string(long + "y")])
    }
    #expect(try store.texts() == [.string(long + "y")])
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test func rulesAreJudgedOnTheMergedState() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let seen = store.token
    let head = store.token
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen, merging: .ownWins) { try $0.update(note, ["id": .null]) }
    }
    #expect(error?.code == .invalidChange && store.token == head)
    // A closure that throws leaves nothing.
    try store.write { try $0.update(note, ["count": 1]) }
    #expect(throws: Mismatch.self) {
      try store.write(basedOn: seen, merging: .ownWins) { tx in
        try tx.update(note, ["text": .string(String(repeating: "x", count: 9_000))])
        throw Mismatch("stop")
      }
    }
    #expect(try store.texts() == [.null])
    try store.write(basedOn: seen, merging: .ownWins) { try $0.update(note, ["text": "y"]) }
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test func aSchemaThatHasGrownSinceIsTheClosures() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "old")
    let seen = store.token
    let grown = Schema {
      Entity("Note") { Attribute("colour", .string, isOptional: false, default: "red") }
    }
    try store.write { tx in
      try tx.require(grown, edits: [.removeProperty(entity: "Note", "count")])
      try tx.update(note, ["text": "new", "colour": "blue"])
    }
    let commit = try store.commit(basedOn: seen, merging: .storedWins) { tx in
      #expect(try tx.object(note)?["colour"] == "red")
      try tx.update(note, ["colour": "green", "text": "mine"])
    }
    #expect(commit.conflicts.map(\.property) == ["text", "colour"])
    let removed = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen, merging: .ownWins) { try $0.update(note, ["count": 3]) }
    }
    #expect(removed?.code == .invalidChange)
    let change = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen, merging: .ownWins) { tx in
        try tx.require(Schema { Entity("Tag") { Attribute("name", .string) } })
      }
    }
    #expect(change?.code == .invalidArgument)
  }

  @Test func tokensThatAreNotOfThisHistorySaySo() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let old = store.token
    for count in 1...3 { try store.write { try $0.update(note, ["count": .int(Int64(count))]) } }
    try store.prune(store.prunePlan(before: store.token))
    let foreign = try noteStore(seed: 2).token
    let ahead = Token(store: store.token.store, number: 99, opening: store.token.opening)
    for (token, code) in [
      (old, AnnalsError.Code.pruned), (foreign, .otherStore), (ahead, .beyondHead),
    ] {
      let error = #expect(throws: AnnalsError.self) {
        try store.write(basedOn: token, merging: .ownWins) { try $0.update(note, ["count": 9]) }
      }
      #expect(error?.code == code)
    }
    // The newest position, the base, and both conditions at once.
    try store.write(basedOn: store.token, merging: .error) { try $0.update(note, ["count": 9]) }
    try store.write(
      basedOn: store.base, merging: .ownWins, expecting: store.token
    ) { try $0.update(note, ["count": 10]) }
    #expect(try store.snapshot().object(note)?["count"] == 10)
  }

  @Test func asynchronousWritesMergeToo() async throws {
    let store = try noteStore()
    let note = try store.note("a")
    let seen = store.token
    try await store.write { try $0.update(note, ["count": 1]) }
    let commit = try await store.commit(basedOn: seen, merging: .ownWins) {
      try $0.update(note, ["count": 2])
    }
    #expect(commit.conflicts.map(\.own) == [2])
    #expect(try store.snapshot().object(note)?["count"] == 2)
  }
}
