import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Draft: Record, Equatable {
  var title: String
  var note: String?
  var when: Date
  var body: String
  var pages: Int
  var place: Reference<Draft>?
  var others: [Reference<Draft>]
  static let entity = RecordEntity(
    "Draft", Draft.init, Property("title", \.title), Property("note", \.note),
    Property("when", \.when), Property("body", \.body), Property("pages", \.pages),
    Property("place", \.place), Property("others", \.others))

  static func sample(_ title: String = "a") -> Draft {
    Draft(
      title: title, note: nil, when: Date(timeIntervalSince1970: 1), body: "text", pages: 1,
      place: nil, others: [])
  }
}

/// A record of which one property is computed.
private struct Boxed: Record {
  private var numbers: [Int] = [0, 0]
  var low: Int {
    get { numbers[0] }
    set { numbers[0] = newValue }
  }
  var high: Int {
    get { numbers[1] }
    set { numbers[1] = newValue }
  }
  static let entity = RecordEntity(
    "Boxed", { Boxed(low: $0, high: $1) }, Property("low", \.low), Property("high", \.high))

  init(low: Int, high: Int) { numbers = [low, high] }
}

/// Saving writes what the program changed, and nothing that others did.
@Suite struct SavingTests {
  @Test(arguments: [nil, .storedWins, .ownWins] as [MergePolicy?])
  func whatOthersChangedStays(_ policy: MergePolicy?) throws {
    let store = try Store(.memory, records: Draft.self)
    let id = try store.write { try $0.insert(Draft.sample()) }.objectID
    let seen = store.snapshot()
    var draft = try #require(try seen.object(Draft.self, id))
    try store.write { try $0.set(\Draft.note, of: id, to: "theirs") }
    draft.title = "mine"
    let saved = try store.write(basedOn: seen.token, merging: policy) { try $0.save(draft) }
    #expect(saved.title == "mine")
    let now = try #require(try store.snapshot().object(Draft.self, id))
    #expect(now.title == "mine" && now.note == "theirs")
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(change.changedProperties == ["title"])
  }

  @Test func withoutABaseTooAndWhateverReadTheObject() throws {
    let store = try Store(.memory, records: Draft.self)
    let inserted = try store.write { try $0.insert(Draft.sample()) }
    let updated = try store.write { tx in try tx.update(inserted) { $0.pages = 2 } }
    var fetched = try #require(try store.snapshot().fetch(Fetch(Draft.self)).first)
    fetched.value.note = "fetched"
    var walked: Object<Draft>?
    try store.snapshot().forEachObject(of: Draft.self) { walked = $0 }
    var walkedCopy = try #require(walked)
    walkedCopy.when = Date(timeIntervalSince1970: 9)
    var old = inserted
    old.title = "b"
    var middle = updated
    middle.body = "longer"
    for edited in [old, middle, fetched, walkedCopy] {
      _ = try store.write { try $0.save(edited) }
    }
    var expected = Draft.sample("b")
    expected.body = "longer"
    expected.note = "fetched"
    expected.when = Date(timeIntervalSince1970: 9)
    expected.pages = 2
    #expect(try store.snapshot().object(Draft.self, inserted.id)?.value == expected)
    // What was not edited changes nothing, however old it is.
    let head = store.token
    _ = try store.write { try $0.save(inserted) }
    #expect(store.token == head)
  }

  @Test func aRecordThatWasNotReadIsSavedWhole() throws {
    let store = try Store(.memory, records: Draft.self)
    let id = try store.write { try $0.insert(Draft.sample()) }.objectID
    let seen = store.token
    try store.write { try $0.set(\Draft.note, of: id, to: "theirs") }
    let saved = try store.write { try $0.save(Draft.sample("whole"), as: id) }
    #expect(saved.objectID == id && saved.value == Draft.sample("whole"))
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(change.changedProperties == ["title", "note"])
    let refused = #expect(throws: AnnalsError.self) {
      _ = try store.write(basedOn: seen) { try $0.save(Draft.sample("again"), as: id) }
    }
    #expect(refused?.conflicts.map(\.property) == ["title", "note"])
    try store.write { try $0.delete(id) }
    let gone = #expect(throws: AnnalsError.self) {
      _ = try store.write { try $0.save(Draft.sample(), as: id) }
    }
    #expect(gone?.code == .noSuchObject)
  }

  @Test func bothChangedOneProperty() throws {
    let store = try Store(.memory, records: Draft.self)
    let read = try store.write { try $0.insert(Draft.sample()) }
    let seen = store.token
    try store.write { tx in try tx.update(read) { ($0.title, $0.note) = ("theirs", "theirs") } }
    var edited = read
    edited.title = "mine"
    let refused = #expect(throws: AnnalsError.self) {
      _ = try store.write(basedOn: seen) { try $0.save(edited) }
    }
    #expect(refused?.conflicts.map(\.property) == ["title"])
    let merged = try store.commit(basedOn: seen, merging: .storedWins) { try $0.save(edited) }
    #expect(merged.conflicts.map(\.property) == ["title"])
    _ = try store.write { try $0.save(edited) }
    let now = try store.snapshot().object(Draft.self, read.id)
    #expect(now?.title == "mine" && now?.note == "theirs")
  }

  @Test func longTextsListsAndComputedProperties() throws {
    let store = try Store(.memory, records: Draft.self, Boxed.self)
    let long = String(repeating: "long ", count: 2_000)
    var sample = Draft.sample()
    sample.body = long
    let (read, box) = try store.write {
      (try $0.insert(sample), try $0.insert(Boxed(low: 1, high: 2)))
    }
    try store.write { tx in
      try tx.update(read) {
        $0.body = long + "theirs"
        $0.others = [Reference(read)]
      }
      try tx.set(\.low, of: box, to: 10)
    }
    var (edited, other) = (read, box)
    edited.place = Reference(read)
    other.high = 20
    try store.write { tx in
      try tx.save(edited)
      try tx.save(other)
    }
    let now = try #require(try store.snapshot().object(Draft.self, read.id))
    #expect(now.body == long + "theirs" && now.others == [Reference(read)])
    #expect(now.place == Reference(read))
    let boxed = try #require(try store.snapshot().object(Boxed.self, box.id))
    #expect(boxed.low == 10 && boxed.high == 20)
  }

  /// What is remembered costs a pointer, and nothing before the first edit.
  @Test func anUneditedObjectIsAsSmallAsItsRecord() {
    let parts = MemoryLayout<ObjectID>.stride + MemoryLayout<Draft>.stride
    #expect(MemoryLayout<Object<Draft>>.size <= parts + MemoryLayout<UnsafeRawPointer>.size)
  }

  /// Two sides edit at random; each property has the value of the side that changed it last.
  @Test func randomEditsOfTwoSides() throws {
    let store = try Store(.memory, records: Draft.self)
    var random = SeededRandom(seed: 20_261_126)
    let id = try store.write { try $0.insert(Draft.sample()) }.objectID
    var expected = Draft.sample()
    for round in 1...60 {
      var mine = try #require(try store.snapshot().object(Draft.self, id))
      var theirs = mine
      for isMine in [false, true] {
        let text = "\(round) \(isMine)"
        for property in 0..<4 where Bool.random(using: &random) {
          func edit(_ draft: inout Draft) {
            switch property {
            case 0: draft.title = text
            case 1: draft.note = Bool.random(using: &random) ? nil : text
            case 2: draft.pages += isMine ? 1 : 2
            default: draft.when = Date(timeIntervalSince1970: Double(round * 2 + property))
            }
          }
          if isMine { edit(&mine.value) } else { edit(&theirs.value) }
        }
      }
      let read = try #require(try store.snapshot().object(Draft.self, id)).value
      _ = try store.write { try $0.save(theirs) }
      _ = try store.write { try $0.save(mine) }
      expected.title = mine.title != read.title ? mine.title : theirs.title
      expected.note = mine.note != read.note ? mine.note : theirs.note
      expected.pages = mine.pages != read.pages ? mine.pages : theirs.pages
      expected.when = mine.when != read.when ? mine.when : theirs.when
      #expect(try store.snapshot().object(Draft.self, id)?.value == expected, "round \(round)")
    }
  }
}
