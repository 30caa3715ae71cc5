import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// What other operations make of erased values.
@Suite struct ErasureNeighbourTests {
  /// What cannot be carried out, since the file cannot be written anew, is not recorded either.
  @Test func anErasureThatCannotReplaceTheFileRecordsNothing() throws {
    let files = MemoryFileSystem()
    let path = "/notes.annals"
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    let note = try store.note("a", text: "secret")
    let head = store.token
    try files.put(ContiguousArray("a text of somebody else".utf8), at: path + ".new")
    let error = #expect(throws: AnnalsError.self) { try store.erase(note, reason: "asked for") }
    #expect(error?.code == .alreadyExists, "\(String(describing: error))")
    #expect(store.token == head)
    try files.remove(path + ".new")
    #expect(try store.erase(note, reason: "asked for").token.number == head.number + 1)
  }

  /// Who decided before an erasure does not write the value again without a conflict: the base is
  /// erased, too, so that comparing the states alone would show nothing.
  @Test(arguments: [MergePolicy.error, .storedWins, .ownWins, .overwrite, .rollBack])
  func anErasureIsAChangeToMergeWith(_ policy: MergePolicy) throws {
    let store = try noteStore()
    let note = try store.note("a", text: "secret")
    let seen = store.token
    try store.erase(note, properties: ["text"], reason: "asked for")
    func write() throws -> [PropertyConflict] {
      try store.commit(basedOn: seen, merging: policy) { tx in
        try tx.update(note, ["text": "secret", "count": 2])
      }.conflicts
    }
    func values() throws -> [Value?] {
      let object = try store.snapshot().object(note)
      return [object?["text"], object?["count"]]
    }
    switch policy {
    case .error:
      let error = #expect(throws: AnnalsError.self) { try write() }
      #expect(error?.code == .conflict)
      #expect(error?.conflicts.map(\.property) == ["text", "count"])
      #expect(try values() == [.erased, .null])
    case .storedWins:
      #expect(try write().map(\.property) == ["text"])
      #expect(try values() == [.erased, 2])
    case .rollBack:
      #expect(try write().map(\.property) == ["text", "count"])
      #expect(try values() == [.erased, .null])
    case .ownWins, .overwrite:
      #expect(try write().map(\.property) == ["text"])
      #expect(try values() == ["secret", 2])
    }
  }

  /// An object that was erased whole has come back without its values: these are others' change,
  /// too, although they are erased in the base as they are now.
  @Test func whatAnObjectLostWithItsErasureIsAConflict() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "secret")
    let seen = store.token
    try store.erase(note, reason: "asked for")
    try store.commit(basedOn: seen, merging: .ownWins) { tx in
      try tx.update(note, ["id": "b", "count": 1])
    }
    #expect(try store.snapshot().object(note)?["text"] == .erased)
    let late = try store.commit(basedOn: seen, merging: .storedWins) { tx in
      try tx.update(note, ["text": "secret"])
    }
    #expect(late.conflicts.map(\.property) == ["text"])
    #expect(try store.snapshot().object(note)?["text"] == .erased)
  }

  /// A value set after its erasure was seen is no conflict.
  @Test func aNewValueForWhatWasErasedBefore() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "secret")
    try store.erase(note, properties: ["text"], reason: "asked for")
    let seen = store.token
    try store.note("b")
    let commit = try store.commit(basedOn: seen, merging: .error) { tx in
      try tx.update(note, ["text": "new"])
    }
    #expect(commit.conflicts.isEmpty)
    #expect(try store.snapshot().object(note)?["text"] == "new")
  }

  /// Whether erased values are still as a transaction left them, nobody can know.
  @Test func whatSetAnErasedValueCannotBeReverted() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    let inserted = store.token
    let updated = try store.commit { try $0.update(note, ["text": "two"]) }.token
    let counted = try store.commit { try $0.update(note, ["count": 1]) }.token
    try store.erase(note, properties: ["text"], reason: "asked for")
    for token in [inserted, updated] {
      let error = #expect(throws: AnnalsError.self) { try store.revert(token) }
      #expect(error?.code == .erased, "\(String(describing: error))")
    }
    try store.revert(counted)
    #expect(try store.snapshot().object(note)?["count"] == .null)
  }

  /// The values of a removed property are in past states, and can be erased by its name.
  @Test func aRemovedPropertyCanBeErased() throws {
    let files = MemoryFileSystem()
    let path = "/notes.annals"
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    let note = try store.note("a", text: "n33dLe")
    let seen = store.token
    try store.edit(.removeProperty(entity: "Note", "text"))
    try store.erase(note, properties: ["text"], reason: "asked for")
    #expect(try store.snapshot(at: seen).object(note)?["text"] == .erased)
    #expect(try store.verifyHistory().filter { $0.severity != .note }.isEmpty)
    let error = #expect(throws: AnnalsError.self) {
      try store.erase(note, properties: ["txt"], reason: "asked for")
    }
    #expect(error?.code == .invalidArgument)
  }

  /// An erasure of the whole object counts beside one of a property, in either order.
  @Test func anErasureOfAllCountsBesideOneOfAProperty() throws {
    for isWholeFirst in [true, false] {
      let store = try noteStore()
      let note = try store.note("a", text: "secret")
      let seen = store.token
      func eraseCount() throws {
        try store.write { try $0.update(note, ["count": 1]) }
        try store.erase(note, properties: ["count"], reason: "asked for")
      }
      func eraseAll() throws {
        try store.erase(note, reason: "asked for")
        try store.commit(basedOn: seen, merging: .ownWins) { tx in
          try tx.update(note, ["id": "b"])
        }
      }
      if isWholeFirst {
        try eraseAll()
        try eraseCount()
      } else {
        try eraseCount()
        try eraseAll()
      }
      let late = try store.commit(basedOn: seen, merging: .storedWins) { tx in
        try tx.update(note, ["text": "secret"])
      }
      #expect(late.conflicts.map(\.property) == ["text"], "\(isWholeFirst)")
      #expect(try store.snapshot().object(note)?["text"] == .erased)
    }
  }
}
