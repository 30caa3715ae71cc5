import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Unique values that both sides of a merge have given.
@Suite struct MergeKeyTests {
  @Test func anInsertedObjectBecomesOneWithThatOfTheSameKey() throws {
    for policy in MergePolicy.allCases where policy != .error {
      let store = try noteStore()
      let seen = store.token
      let theirs = try store.write {
        try $0.insert("Note", ["id": "x", "text": "theirs", "count": 1])
      }
      let commit = try store.commit(basedOn: seen, merging: policy) { tx in
        let note = try tx.insert("Note", ["id": "x", "text": "mine"])
        let mine = ObjectReference(note)
        try tx.insert("Folder", ["name": "f", "notes": .objects([mine])])
        return note
      }
      let found = try #require(try store.snapshot().object(theirs))
      #expect(try store.ids() == ["x"])
      #expect(found["text"] == (policy == .ownWins || policy == .overwrite ? "mine" : "theirs"))
      #expect(found["count"] == (policy == .overwrite ? .null : 1))
      // What referred to the object refers to that one.
      let reference = ObjectReference(theirs)
      let lists = try store.snapshot().objects(of: "Folder").map { $0["notes"] }
      #expect(lists == [.objects([reference])])
      // The caller learns what became of the id.
      let whole = try #require(commit.conflicts.first)
      #expect(whole.property == nil && whole.insertedAs == commit.value && whole.object == theirs)
      #expect(commit.value != theirs && commit.mergedObjects == [commit.value: theirs])
      let lost = policy == .overwrite ? ["text", "count"] : ["text"]
      #expect(commit.conflicts.dropFirst().map(\.property) == lost)
      #expect(try store.verify().allSatisfy { $0.severity == .note })
    }
  }

  /// Keys are found to collide when all else is merged; then it is merged once more.
  @Test func conflictsBesideASharedKeyAreToldOnce() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "base")
    let seen = store.token
    try store.write { tx in
      try tx.update(note, ["text": "theirs"])
      _ = try tx.insert("Note", ["id": "x"])
    }
    let conflicts = try store.commit(basedOn: seen, merging: .ownWins) { tx in
      try tx.update(note, ["text": "mine"])
      _ = try tx.insert("Note", ["id": "x"])
    }.conflicts
    #expect(conflicts.map(\.property) == ["text", nil])
  }

  /// A list without an order has its objects in rising order, each once, also where one of them
  /// became another.
  @Test func listsOfObjectsThatBecameOthers() throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Tag") { Attribute("name", .string, isOptional: false, isUnique: true) }
        Entity("Post") {
          Relationship("tags", to: "Tag", isToMany: true)
          Relationship("order", to: "Tag", isToMany: true, isOrdered: true)
        }
      })
    let (old, post) = try store.write { tx in
      (try tx.insert("Tag", ["name": "old"]), try tx.insert("Post"))
    }
    let seen = store.token
    let theirs = try store.write { try $0.insert("Tag", ["name": "fog"]) }
    let commit = try store.commit(basedOn: seen, merging: .ownWins) { tx in
      let rain = try tx.insert("Tag", ["name": "rain"])
      let fog = try tx.insert("Tag", ["name": "fog"])
      let all = [rain, fog, old].map { ObjectReference($0) }
      try tx.update(post, ["tags": .objects(all), "order": .objects(all)])
      try tx.insert("Post", ["tags": .objects(all), "order": .objects(all)])
      return (rain, fog)
    }
    let (rain, fog) = commit.value
    #expect(commit.mergedObjects == [fog: theirs] && fog.row > rain.row && rain.row > theirs.row)
    let rising = [old, theirs, rain].map { ObjectReference($0) }
    let given = [rain, theirs, old].map { ObjectReference($0) }
    for found in try store.snapshot().objects(of: "Post") {
      #expect(found["tags"] == .objects(rising))
      #expect(found["order"] == .objects(given))
    }
    #expect(try store.snapshot().count(of: "Post") == 2)
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test func noMoreConflictsAreListedThanPromised() throws {
    let store = try noteStore()
    let seen = store.token
    let ids = (1...1_200).map { Value.string("n\($0)") }
    try store.write { tx in for id in ids { try tx.insert("Note", ["id": id]) } }
    let commit = try store.commit(basedOn: seen, merging: .ownWins) { tx in
      for id in ids { try tx.insert("Note", ["id": id, "count": 1]) }
    }
    #expect(commit.conflicts.count == 1_000 && commit.mergedObjects.count == 1_200)
  }

  @Test func whatHasNoValueTakesTheOthersUnderStoredWins() throws {
    let store = try noteStore()
    let seen = store.token
    let theirs = try store.note("x")
    try store.write(basedOn: seen, merging: .storedWins) {
      try $0.insert("Note", ["id": "x", "text": "mine", "count": 2])
    }
    let found = try #require(try store.snapshot().object(theirs))
    #expect(found["text"] == "mine" && found["count"] == 2)
  }

  @Test func errorRefusesAndSoDoesAWriteThatGivesOneKeyTwice() throws {
    let store = try noteStore()
    let old = try store.note("old")
    let seen = store.token
    let theirs = try store.note("x")
    let head = store.token
    func refuse(_ policy: MergePolicy, _ body: (WriteTransaction) throws -> Void) throws {
      let error = #expect(throws: AnnalsError.self) {
        try store.write(basedOn: seen, merging: policy, body)
      }
      #expect(error?.code == .invalidChange, "\(policy)")
      #expect(error?.message.contains("is taken by") == true)
      #expect(store.token == head)
    }
    try refuse(.error) { try $0.insert("Note", ["id": "x"]) }
    for policy in MergePolicy.allCases {
      try refuse(policy) { tx in
        try tx.insert("Note", ["id": "x", "text": "1"])
        try tx.insert("Note", ["id": "x", "text": "2"])
      }
      try refuse(policy) { try $0.insert("Note", ["id": "old"]) }
    }
    for policy in [MergePolicy.error, .ownWins, .overwrite] {
      try refuse(policy) { try $0.update(old, ["id": "x"]) }
    }
    #expect(try store.snapshot().object(theirs)?["id"] == "x")
  }

  @Test func anObjectThatTakesATakenKeyKeepsTheStoredOne() throws {
    let store = try noteStore()
    let old = try store.note("old", text: "base")
    let seen = store.token
    try store.note("x")
    let body: (WriteTransaction) throws -> Void = {
      try $0.update(old, ["id": "x", "text": "mine"])
    }
    let rolledBack = try store.commit(basedOn: seen, merging: .rollBack, body)
    #expect(try store.texts() == ["base", .null])
    #expect(rolledBack.conflicts.map(\.property) == ["id", "text"])
    let kept = try store.commit(basedOn: seen, merging: .storedWins, body)
    #expect(try store.ids() == ["old", "x"] && store.texts() == ["mine", .null])
    #expect(kept.conflicts.map(\.property) == ["id"])
  }

  /// Each property once, whatever else others have changed in the object.
  @Test(arguments: [["count"], ["text"], ["count", "text"]], [MergePolicy.rollBack, .storedWins])
  func aTakenKeyIsToldOnceBesideOtherConflicts(
    _ others: [String], _ policy: MergePolicy
  ) throws {
    let store = try noteStore()
    let old = try store.note("old", text: "base")
    let seen = store.token
    try store.write { tx in
      let theirs: [String: Value] = ["count": 9, "text": "theirs"]
      try tx.update(old, theirs.filter { others.contains($0.key) })
      try tx.insert("Note", ["id": "x"])
    }
    let commit = try store.commit(basedOn: seen, merging: policy) {
      try $0.update(old, ["id": "x", "text": "mine"])
    }
    let isTextTold = policy == .rollBack || others.contains("text")
    #expect(
      commit.conflicts.compactMap(\.property).sorted() == ["id"] + (isTextTold ? ["text"] : []))
    let found = try #require(try store.snapshot().object(old))
    #expect(found["id"] == "old" && found["count"] == (others.contains("count") ? 9 : .null))
    let text = others.contains("text") ? "theirs" : policy == .rollBack ? "base" : "mine"
    #expect(found["text"] == .string(text))
  }

  @Test func keysThatWereFreedMeanwhileMayBeTaken() throws {
    let store = try noteStore()
    let first = try store.note("x")
    let seen = store.token
    try store.write { try $0.update(first, ["id": "y"]) }
    for policy in [MergePolicy.error, .ownWins] {
      try store.write(basedOn: seen, merging: policy) {
        // Twice in the state that it reads, not any more where it is merged.
        try $0.insert("Note", ["id": policy == .error ? "x" : "z"])
      }
    }
    #expect(try store.ids() == ["y", "x", "z"])
  }

  /// Few keys, so that nearly every merge meets some: whatever becomes of it, no key is there
  /// twice, and what is refused leaves nothing.
  @Test(arguments: 1...8) func randomKeysAreNeverThereTwice(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let file = memoryFile()
    let (store, other) = (try noteStore(file), try noteStore(file, seed: 2))
    var tokens = [store.token]
    for _ in 0..<80 {
      let policy = MergePolicy.allCases[random.below(5)]
      let seen = tokens[max(0, tokens.count - 1 - random.below(4))]
      try other.refresh()
      let before = other.token
      do {
        if random.chance(50) {
          tokens.append(try other.commit { try edit($0, &random) }.token)
        } else {
          let commit = try store.commit(basedOn: seen, merging: policy) { try edit($0, &random) }
          tokens.append(commit.token)
        }
      } catch let error as AnnalsError {
        #expect([.invalidChange, .conflict].contains(error.code), "\(error)")
        #expect(store.token <= before && other.token == before)
      }
      let ids = try store.ids()
      #expect(Set(ids).count == ids.count)
    }
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  private func edit(_ tx: WriteTransaction, _ random: inout SeededRandom) throws {
    for _ in 0...random.below(3) {
      let notes = try tx.objects(of: "Note")
      let key = Value.string("k\(random.below(6))")
      let text = Value.string("\(random.below(3))")
      if notes.isEmpty || random.chance(40) {
        if try tx.object(of: "Note", where: "id", is: key) == nil {
          let note = try tx.insert("Note", ["id": key, "text": text])
          let reference = ObjectReference(note)
          try tx.insert("Folder", ["notes": .objects([reference])])
        }
      } else {
        let note = notes[random.below(notes.count)].objectID
        switch random.below(3) {
        case 0: try tx.delete(note)
        case 1: try tx.update(note, ["id": key])
        default: try tx.update(note, ["text": text])
        }
      }
    }
  }

  /// One has the first key of the stored object, the other the second.
  @Test func twoInsertedObjectsBecomeOneByDifferentKeys() throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Tag") {
          Attribute("key", .string, isUnique: true)
          Attribute("name", .string, isUnique: true)
        }
      })
    let seen = store.token
    let theirs = try store.write { try $0.insert("Tag", ["key": "k", "name": "n"]) }
    let commit = try store.commit(basedOn: seen, merging: .storedWins) { tx in
      [try tx.insert("Tag", ["key": "k"]), try tx.insert("Tag", ["name": "n"])]
    }
    #expect(commit.mergedObjects == [commit.value[0]: theirs, commit.value[1]: theirs])
    #expect(try store.snapshot().count(of: "Tag") == 1)
  }
}
