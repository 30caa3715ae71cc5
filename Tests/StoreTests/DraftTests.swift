import Annals
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsEngine

/// Drafts that are filled outside of a write, and committed later.
@Suite struct DraftTests {
  private let file = memoryFile()
  private let store: Store

  init() throws { store = try noteStore(file) }

  private func draft(author: String? = nil) -> Draft {
    store.writer.makeDraft(TransactionOrigin(author: author))
  }

  private func entity(_ name: String) throws -> Entity {
    try #require(store.schema.entity(named: name))
  }

  private func object(_ reference: ObjectReference) throws -> DynamicObject? {
    let id = ObjectID(store: store.token.store, entity: reference.entity, row: reference.row)
    return try store.snapshot().object(id)
  }

  private func failure(_ body: () throws -> Void) -> AnnalsError? {
    do { try body() } catch { return AnnalsError.translated(error) }
    return nil
  }

  @Test func isCommittedAsItWasFilled() throws {
    let fog = ObjectReference(try store.note("fog", text: "grey"))
    var draft = draft(author: "form")
    let rain = try draft.insert(try entity("Note"), ["id": "rain", "text": "wet"])
    try draft.update(fog.row, of: try entity("Note"), ["text": "thick"])
    // Nobody sees it yet, and it can be read.
    #expect(try store.ids() == ["fog"])
    #expect(try draft.reader.count(of: "Note") == 2)
    let result = try store.writer.commit(draft)
    #expect(result.token == store.token && result.moves.isEmpty && result.conflicts.isEmpty)
    let transaction = try store.transaction(result.token.number)
    #expect(transaction.author == "form" && transaction.changes.count == 2)
    #expect(try object(rain)?["text"] == "wet" && object(fog)?["text"] == "thick")
    #expect(try store.problems() == [])
  }

  @Test func aDraftIsAValue() throws {
    var one = draft()
    _ = try one.insert(try entity("Note"), ["id": "one"])
    var other = one
    _ = try other.insert(try entity("Note"), ["id": "other"])
    #expect(try store.writer.commit(one).token == store.token)
    #expect(try store.ids() == ["one"])
    // Its first note has the key of a stored one by now; with a policy it becomes that.
    let error = #expect(throws: AnnalsError.self) { try store.writer.commit(other) }
    #expect(error?.code == .invalidChange)
    let result = try store.writer.commit(other, if: Preconditions(policy: .ownWins))
    #expect(result.mergedObjects.count == 1)
    #expect(try store.ids() == ["one", "other"])
  }

  @Test func newObjectsMoveFromRowsThatOthersHaveUsed() throws {
    let (note, folder) = (try entity("Note"), try entity("Folder"))
    var draft = draft()
    let home = try draft.insert(folder, ["name": "home"])
    let fog = try draft.insert(note, ["id": "fog", "folder": .object(home)])
    try draft.set(home, try #require(folder.propertyNumber(named: "notes")), to: .objects([fog]))
    let theirs = try store.note("theirs")
    #expect(ObjectReference(theirs) == fog)
    let result = try store.writer.commit(draft)
    let moved = try #require(result.moves[fog])
    #expect(result.moves == [fog: moved] && moved.row == fog.row + 1)
    #expect(try object(moved)?["id"] == "fog" && object(moved)?["folder"] == .object(home))
    #expect(try object(home)?["notes"] == .objects([moved]))
    #expect(try store.ids() == ["theirs", "fog"] && store.problems() == [])
  }

  /// A list without an order has its objects by their rows, also where these have moved.
  /// An object that moved, and then became one with another's of the same key, is named by the id
  /// that the draft gave it.
  @Test func aMovedObjectThatIsMergedIsNamedAsInTheDraft() throws {
    var draft = draft()
    let dew = try draft.insert(try entity("Note"), ["id": "dew", "text": "own"])
    try store.note("fog", text: "grey")
    let stored = ObjectReference(try store.note("dew", text: "stored"))
    #expect(stored.row != dew.row)
    let result = try store.writer.commit(draft, if: Preconditions(policy: .ownWins))
    #expect(result.moves == [:])
    #expect(result.mergedObjects == [dew: stored])
    #expect(try object(stored)?["text"] == "own")
  }

  @Test func aListFollowsTheOrderOfTheMovedRows() throws {
    let schema = Schema {
      Entity("Tag") { Attribute("name", .string) }
      Entity("Page") { Relationship("tags", to: "Tag", isToMany: true) }
    }
    let store = try Store(memoryFile(), schema: schema, environment: .fixed())
    let (tag, page) = (
      try #require(store.schema.entity(named: "Tag")),
      try #require(store.schema.entity(named: "Page"))
    )
    var draft = store.writer.makeDraft(TransactionOrigin())
    let first = try draft.insert(entity: tag, row: 20)
    let second = try draft.insert(entity: tag, row: 10)
    let made = try draft.insert(page, ["tags": .objects([first, second])])
    try store.write { _ = try $0.insert("Tag", ["name": "theirs"]) }
    let moves = try store.writer.commit(draft).moves
    let targets = [first, second].compactMap { moves[$0] }
    #expect(targets.map(\.row) == [2, 3] || targets.map(\.row) == [3, 2])
    let id = ObjectID(store: store.token.store, entity: made.entity, row: made.row)
    let sorted = targets.sorted { $0.row < $1.row }
    #expect(try store.snapshot().object(id)?["tags"] == .objects(sorted))
  }

  @Test func largeValuesAreHeldUntilTheCommit() throws {
    let (old, new) = (String(repeating: "o", count: 9_000), String(repeating: "n", count: 9_001))
    let kept = ObjectReference(try store.note("kept", text: old))
    var draft = draft()
    let note = try entity("Note")
    try draft.update(kept.row, of: note, ["text": .string(old), "count": 1])
    let made = try draft.insert(note, ["id": "made", "text": .string(new)])
    #expect(try draft.reader.object(made.row, of: note)?["text"] == .string(new))
    let abandoned = try { (draft: Draft) throws -> Draft in
      var draft = draft
      _ = try draft.insert(note, ["id": "abandoned", "text": .string(new + new)])
      return draft
    }(draft)
    let bytes = store.writer.log.bytesSinceCheckpoint
    #expect(try store.writer.commit(draft).token == store.token)
    // The text that was there already is not written again.
    #expect(store.writer.log.bytesSinceCheckpoint - bytes < 9_001 + 1_000)
    #expect(try object(made)?["text"] == .string(new) && object(kept)?["text"] == .string(old))
    #expect(try store.transaction(store.token.number).changes.map(\.properties.count) == [1, 2])
    withExtendedLifetime(abandoned) {}
    try store.close()
    #expect(try noteStore(file).problems() == [])
  }

  @Test func conflictsRefuseItOrArePutRightByAPolicy() throws {
    let fog = try store.note("fog", text: "grey")
    var draft = draft()
    try draft.update(fog.row, of: try entity("Note"), ["text": "mine"])
    try store.write { tx in try tx.update(fog, ["text": "theirs", "count": 2]) }
    let error = #expect(throws: AnnalsError.self) { try store.writer.commit(draft) }
    #expect(error?.code == .conflict && error?.conflicts.map(\.property) == ["text"])
    let result = try store.writer.commit(draft, if: Preconditions(policy: .ownWins))
    #expect(result.conflicts.map(\.property) == ["text"])
    let now = try store.snapshot().object(fog)
    #expect(now?["text"] == "mine" && now?["count"] == 2)
  }

  @Test func aNumberThatWasDecidedElsewhereIsTheNextOrRefused() throws {
    var draft = draft()
    _ = try draft.insert(try entity("Note"), ["id": "a"])
    draft.origin.timestamp = Timestamp(microseconds: 1_000_000)
    draft.origin.number = store.token.number + 2
    let error = #expect(throws: AnnalsError.self) { try store.writer.commit(draft) }
    #expect(error?.code == .conflict)
    draft.origin.number = store.token.number + 1
    let token = try store.writer.commit(draft).token
    #expect(token.number == draft.origin.number)
    #expect(try store.transaction(token.number).moment == Timestamp(microseconds: 1_000_000))
  }

  @Test func theSchemaCanBeChangedOnTheNewestStateAlone() throws {
    var draft = draft()
    _ = try draft.require(
      Schema { Entity("Tag") { Attribute("name", .string) } }, [], timesDeclared: { _ in 0 })
    _ = try draft.insert(try draft.reader.entity(named: "Tag"), ["name": "x"])
    let late = draft
    try store.note("theirs")
    let error = #expect(throws: AnnalsError.self) { try store.writer.commit(late) }
    #expect(error?.code == .invalidArgument)
    draft = self.draft()
    _ = try draft.require(
      Schema { Entity("Tag") { Attribute("name", .string) } }, [], timesDeclared: { _ in 0 })
    _ = try draft.insert(try draft.reader.entity(named: "Tag"), ["name": "x"])
    _ = try store.writer.commit(draft)
    #expect(try store.snapshot().count(of: "Tag") == 1)
  }

  @Test func whatBreaksARuleIsRefusedAndCanBeMended() throws {
    var draft = draft()
    let note = try entity("Note")
    let row = try draft.insert(note, ["text": .string(String(repeating: "x", count: 5_000))]).row
    let error = #expect(throws: AnnalsError.self) { try store.writer.commit(draft) }
    #expect(error?.code == .invalidChange && error?.violations.map(\.property) == ["id"])
    try draft.update(row, of: note, ["id": "now"])
    _ = try store.writer.commit(draft)
    #expect(try store.ids() == ["now"] && store.problems() == [])
  }

  /// The same random edits, by a draft that was begun on an earlier state, and by a closure that is
  /// based on it.
  @Test(arguments: 1...8) func aDraftIsMergedAsAClosureIs(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let stores = [try noteStore(seed: 1), try noteStore(seed: 1)]
    for step in 0..<40 {
      let draft = stores[0].writer.makeDraft(TransactionOrigin())
      let token = stores[1].token
      for other in 0..<random.below(4) {
        let edits = Edits(&random, step: step, part: "theirs\(other)")
        for store in stores { try? store.write { tx in try edits.run(&tx.draft) } }
      }
      let edits = Edits(&random, step: step, part: "mine")
      let policy = MergePolicy.allCases[random.below(5)]
      var (mine, codes) = (draft, [AnnalsError.Code?]())
      codes.append(
        failure {
          try edits.run(&mine)
          _ = try stores[0].writer.commit(mine, if: Preconditions(policy: policy))
        }?.code)
      codes.append(
        failure {
          try stores[1].write(basedOn: token, merging: policy) { tx in try edits.run(&tx.draft) }
        }?.code)
      try #require(codes[0] == codes[1], "step \(step), \(policy)")
      let states = try stores.map { store in
        try ["Note", "Folder"].flatMap { try store.snapshot().objects(of: $0).map(\.description) }
      }
      let isSame = states[0] == states[1]
      try #require(isSame, "step \(step), \(policy)")
    }
    #expect(try stores[0].problems() == [])
  }
}

/// A few edits of notes and folders, the same for any state of equal objects.
private struct Edits {
  private let seed: UInt64
  private let name: String

  init(_ random: inout SeededRandom, step: Int, part: String) {
    seed = random.next()
    name = "\(step) \(part)"
  }

  func run(_ draft: inout Draft) throws {
    var random = SeededRandom(seed: seed)
    let note = try draft.reader.entity(named: "Note")
    let folder = try draft.reader.entity(named: "Folder")
    for edit in 0..<1 + random.below(4) {
      let notes = try rows(note, draft)
      switch random.below(5) {
      case 0, 1:
        let made = try draft.insert(
          note, ["id": .string(random.chance(20) ? "shared" : "\(name) \(edit)")])
        guard random.chance(50) else { continue }
        let home = try draft.insert(
          folder, ["name": .string("\(name) \(edit)"), "notes": .objects([made])])
        try draft.update(made.row, of: note, ["folder": .object(home)])
      case 2:
        guard !notes.isEmpty else { continue }
        try draft.delete(
          ObjectReference(entity: note.number, row: notes[random.below(notes.count)]))
      default:
        guard !notes.isEmpty else { continue }
        let text = String(repeating: "x", count: random.chance(20) ? 6_000 + edit : 5)
        try draft.update(
          notes[random.below(notes.count)], of: note,
          ["text": .string(text + name), "count": .int(Int64(random.below(3)))])
      }
    }
  }

  private func rows(_ entity: Entity, _ draft: Draft) throws -> [Int64] {
    var result: [Int64] = []
    try draft.reader.forEachRow(of: entity.number) { result.append($0) }
    return result
  }
}
