import Annals
import AnnalsModel
import Testing

/// Writes that were decided on an earlier state.
@Suite struct PreconditionTests {
  @Test func aWriteThatExpectsAPositionIsRefusedOnceTheStoreHasGoneOn() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let seen = store.snapshot()
    try store.write(expecting: seen.token) { try $0.update(note, ["count": 1]) }
    var hasRun = false
    let error = #expect(throws: AnnalsError.self) {
      try store.write(expecting: seen.token) { tx in
        hasRun = true
        try tx.update(note, ["count": 2])
      }
    }
    #expect(error?.code == .conflict && !hasRun)
    #expect(error?.message.contains("it has gone on to 3") == true)
    #expect(try store.snapshot().object(note)?["count"] == 1)
    // A write that changes nothing leaves the position where it was.
    let head = store.token
    try store.write(expecting: head) { try $0.update(note, ["count": 1]) }
    #expect(store.token == head)
  }

  @Test func onlyWhatBothChangedIsAConflict() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "x")
    let other = try store.note("b")
    let seen = store.token
    try store.write(author: "ann") { try $0.update(note, ["text": "y"]) }
    // Another property of the same object, another object, a new one: no conflict.
    try store.write(basedOn: seen) { try $0.update(note, ["count": 1]) }
    try store.write(basedOn: seen) { try $0.update(other, ["text": "z"]) }
    try store.write(basedOn: seen) { try $0.insert("Note", ["id": "c"]) }
    let head = store.token
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { tx in
        try tx.update(note, ["text": "mine", "count": 5])
        try tx.update(other, ["count": 5])
      }
    }
    #expect(error?.code == .conflict && store.token == head)
    #expect(
      error?.conflicts.map(\.description) == [
        "Note/a.count, changed by transaction 5", "Note/a.text, changed by transaction 4",
      ])
    try store.write(basedOn: head) { try $0.update(note, ["text": "mine"]) }
    #expect(try store.texts() == ["mine", "z", .null])
  }

  /// Two that read 5 and both write 6 have counted once.
  @Test func theValueThatOthersSetIsAConflictToo() throws {
    let store = try Store(.memory, records: Meter.self)
    let meter = try store.write { try $0.insert(Meter(name: "a", count: 5)) }
    let seen = store.snapshot()
    var edited = try #require(try seen.object(Meter.self, meter.objectID))
    edited.count += 1
    try store.write { try $0.set(\.count, of: meter, to: 6) }
    let head = store.token
    let writes: [(WriteTransaction) throws -> Void] = [
      { try $0.set(\.count, of: meter, to: 6) },
      { try $0.update(meter.objectID, ["count": 6]) },
      { [edited] in try $0.save(edited) },
      {
        try $0.set(\.count, of: meter, to: 7)
        try $0.set(\.count, of: meter, to: 6)
      },
    ]
    for write in writes {
      let error = #expect(throws: AnnalsError.self) {
        try store.write(basedOn: seen.token, write)
      }
      #expect(error?.conflicts.map(\.description) == ["Meter/a.count, changed by transaction 3"])
    }
    #expect(store.token == head)
    // What the closure reads is the newest, and another property is nobody's business.
    try store.write(basedOn: seen.token) { tx in try tx.update(meter) { $0.name = "b" } }
    try store.write(basedOn: head) { try $0.set(\.count, of: meter, to: 6) }
  }

  @Test func deletingWhatOthersChangedIsAConflictAndSoIsTheReverse() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let seen = store.token
    try store.write { try $0.update(note, ["count": 1]) }
    let deletion = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { try $0.delete(note) }
    }
    #expect(deletion?.conflicts.map(\.description) == ["Note/a, changed by transaction 3"])
    let changed = store.token
    try store.write { try $0.delete(note) }
    let update = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: changed) { try $0.update(note, ["count": 2]) }
    }
    #expect(update?.code == .conflict)
    #expect(update?.conflicts.map(\.description) == ["Note/a, deleted by transaction 4"])
    #expect(store.token.number == 4)
  }

  @Test func whatWasDeletedSinceIsAConflictWhereverItIsTouched() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let other = try store.note("b")
    try store.write { try $0.delete(other) }
    let seen = store.token
    try store.write { try $0.delete(note) }
    for body in [
      { try $0.delete(note) }, { try $0.update(note, ["text": "x"]) },
      { try $0.update(TextNote.self, note) { $0.text = "x" } },
      { try $0.set(\TextNote.text, of: note, to: "x") },
    ] as [(WriteTransaction) throws -> Void] {
      let error = #expect(throws: AnnalsError.self) { try store.write(basedOn: seen, body) }
      #expect(error?.code == .conflict)
      #expect(error?.message.contains("Note/a, deleted by transaction 5") == true)
      #expect(error?.conflicts.first?.isDeletion == true)
      #expect(error?.conflicts.first?.changedBy == 5)
      // Without a position, and with one from behind the deletion, there is just nothing there.
      for position in [nil, store.token] {
        #expect(
          #expect(throws: AnnalsError.self) { try store.write(basedOn: position, body) }?.code
            == .noSuchObject)
      }
    }
    // Gone before, or deleted by the transaction itself, is nobody else's doing.
    let before = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { try $0.delete(other) }
    }
    #expect(before?.code == .noSuchObject)
    let third = try store.note("c")
    let own = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { tx in
        try tx.delete(third)
        try tx.delete(third)
      }
    }
    #expect(own?.code == .noSuchObject)
    // What was revived is there.
    try store.revert(5)
    let revived = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { try $0.update(note, ["text": "x"]) }
    }
    #expect(revived?.code == .conflict)
  }

  /// Nothing of it differs, and yet others have had it in hand.
  @Test func settingWhatWasDeletedAndRevivedIsAConflict() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "x")
    let seen = store.token
    try store.write { try $0.delete(note) }
    try store.revert(store.token)
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { try $0.update(note, ["text": "x"]) }
    }
    #expect(error?.code == .conflict && error?.conflicts.map(\.property) == [nil])
  }

  @Test func anotherProcessesChangesCount() throws {
    let file = memoryFile()
    let first = try noteStore(file)
    let note = try first.note("a")
    let second = try noteStore(file, seed: 2)
    let seen = second.token
    try first.write { try $0.update(note, ["count": 1]) }
    #expect(
      #expect(throws: AnnalsError.self) {
        try second.write(basedOn: seen) { try $0.update(note, ["count": 2]) }
      }?.code == .conflict)
    #expect(
      #expect(throws: AnnalsError.self) { try second.write(expecting: seen) { _ in } }?.code
        == .conflict)
    // Refused, it is level with the first, and can go on.
    try second.write(basedOn: second.token) { try $0.update(note, ["count": 2]) }
    #expect(try second.snapshot().object(note)?["count"] == 2)
  }

  @Test func tokensThatAreNotOfThisHistorySaySo() throws {
    let store = try noteStore()
    let note = try store.note("a")
    let old = store.token
    for count in 1...3 { try store.write { try $0.update(note, ["count": .int(Int64(count))]) } }
    try store.prune(store.prunePlan(before: store.token))
    let foreign = try noteStore(seed: 2).token
    // Where a store that has gone on was expected, it has gone on, pruned or not.
    let cases: [(Token?, Token?, AnnalsError.Code)] = [
      (old, nil, .pruned), (nil, old, .conflict), (foreign, nil, .otherStore),
      (nil, foreign, .otherStore),
    ]
    for (basedOn, expecting, code) in cases {
      let error = #expect(throws: AnnalsError.self) {
        try store.write(basedOn: basedOn, expecting: expecting) {
          try $0.update(note, ["count": 9])
        }
      }
      #expect(error?.code == code)
    }
  }

  @Test func noMoreThanTwentyConflictsAreListed() throws {
    let store = try noteStore()
    let notes = try (1...25).map { try store.note("n\($0)") }
    let seen = store.token
    for note in notes { try store.write { try $0.update(note, ["count": 1]) } }
    let error = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { tx in
        for note in notes { try tx.update(note, ["count": 2]) }
      }
    }
    #expect(error?.conflicts.count == 20)
    // The newest first.
    #expect(error?.conflicts.first?.objectName == "Note/n25")
  }
}

/// A note as a record, with what these tests need.
struct TextNote: Record {
  var id: String
  var text: String?
  static let entity = RecordEntity(
    "Note", TextNote.init, Property("id", \.id).unique(), Property("text", \.text))
}

private struct Meter: Record, Equatable {
  var name: String
  var count: Int
  static let entity = RecordEntity(
    "Meter", Meter.init, Property("name", \.name).unique(), Property("count", \.count))
}
