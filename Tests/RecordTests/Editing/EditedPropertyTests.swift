import Annals
import AnnalsModel
import Observation
import Synchronization
import Testing

private struct Size: JSONValue, Hashable {
  var width = 0
  var height = 0
}

private struct Plain: Record {
  var title: String
  var size: Size
  var day: CalendarDay?
  static let entity = RecordEntity(
    "Plain", Plain.init, Property("title", \.title), Property("size", \.size),
    Property("day", \.day))

  /// Sets two properties.
  var square: Int {
    get { size.width }
    set {
      size = Size(width: newValue, height: newValue)
      title = "square"
    }
  }
}

private struct Watched: Record {
  var title: String { didSet { edits += 1 } }
  var edits: Int
  static let entity = RecordEntity(
    "Watched", Watched.init, Property("title", \.title), Property("edits", \.edits))
}

/// What a property of an editable object that is set writes: that property, or all that follow
/// from it in the record.
@Suite struct EditedPropertyTests {
  private func form() throws -> EditingContext {
    let store = try Store(.memory, records: Plain.self, Watched.self)
    try store.write { tx in
      try tx.insert(Plain(title: "a", size: Size(), day: nil))
      try tx.insert(Watched(title: "a", edits: 0))
    }
    return try EditingContext(store)
  }

  private func changed(_ form: EditingContext) throws -> [[String]] {
    try form.changes().map(\.changedProperties)
  }

  @Test func aStoredProperty() throws {
    let form = try form()
    let plain = try #require(try form.fetch(Fetch(Plain.self)).first)
    plain.title = "a"
    #expect(!form.hasChanges && form.undoName == nil)
    plain.title = "b"
    #expect(form.undoName == "Change title")
    #expect(try changed(form) == [["title"]])
    #expect(try form.undo() && plain.title == "a")
  }

  @Test func aPartOfAValue() throws {
    let form = try form()
    let plain = try #require(try form.fetch(Fetch(Plain.self)).first)
    plain.size.width = 3
    plain.size.height = 4
    #expect(form.undoName == "Change size" && plain.size == Size(width: 3, height: 4))
    #expect(try changed(form) == [["size"]])
    #expect(try form.undo() && plain.size == Size())
    #expect(try !form.undo())
  }

  @Test func aComputedProperty() throws {
    let form = try form()
    let plain = try #require(try form.fetch(Fetch(Plain.self)).first)
    plain.square = 5
    #expect(plain.title == "square" && plain.size == Size(width: 5, height: 5))
    #expect(form.undoName == "Change")
    #expect(try changed(form) == [["title", "size"]])
    try form.save()
    #expect(try form.store.snapshot().objects(of: Plain.self).map(\.value.square) == [5])
    #expect(try form.undo() && plain.title == "a" && plain.size == Size())
  }

  @Test func whatItsObserverSets() throws {
    let form = try form()
    let watched = try #require(try form.fetch(Fetch(Watched.self)).first)
    watched.title = "b"
    #expect(watched.edits == 1)
    #expect(try changed(form) == [["title", "edits"]])
    watched.edits = 7
    try form.save()
    #expect(try form.store.snapshot().objects(of: Watched.self).map(\.value.edits) == [7])
  }

  @Test func severalInTurn() throws {
    let form = try form()
    let plain = try #require(try form.fetch(Fetch(Plain.self)).first)
    plain.title = String(repeating: "x", count: 100)
    plain.day = CalendarDay(year: 2024, month: 2, day: 29)
    #expect(try changed(form) == [["title", "day"]])
    #expect(try form.undo() && plain.day == nil && plain.title.count == 100)
  }

  /// Observers hear of each edit of a group as it is made, and at its end that there is a step.
  @Test func aGroupIsToldAsItIsMade() throws {
    let form = try form()
    let plain = try #require(try form.fetch(Fetch(Plain.self)).first)
    let edits = Atomic<Int>(0)
    let steps = Atomic<Int>(0)
    withObservationTracking {
      _ = plain.title
    } onChange: {
      edits.add(1, ordering: .relaxed)
    }
    try form.group("Both") {
      plain.title = "b"
      #expect(edits.load(ordering: .relaxed) == 1)
      plain.size.width = 2
      withObservationTracking {
        _ = form.undoName
      } onChange: {
        steps.add(1, ordering: .relaxed)
      }
      #expect(form.undoName == nil)
    }
    #expect(steps.load(ordering: .relaxed) == 1 && form.undoName == "Both")
    try form.group("Nothing") {}
    #expect(form.undoName == "Both")
    #expect(try form.undo() && plain.title == "a" && plain.size == Size())
  }
}
