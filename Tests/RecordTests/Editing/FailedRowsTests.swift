import Annals
import Testing

private struct Box: Record {
  var name: String
  var things: [Reference<Thing>]
  static let entity = RecordEntity(
    "Box", Box.init, Property("name", \.name), Property("things", \.things))
}

private struct Thing: Record {
  var size: Int
  static let entity = RecordEntity("Thing", Thing.init, Property("size", \.size))
}

/// Rows over an editing context of which a step fails: a sum that is beyond the numbers.
@MainActor @Suite struct FailedRowsTests {
  private let form: EditingContext
  private let small: EditableObject<Thing>
  private let large: EditableObject<Thing>
  private let both: EditableObject<Box>
  private let rows: LiveRows<Object<Box>>

  init() throws {
    form = try EditingContext(try Store(.memory, records: Box.self, Thing.self))
    small = try form.insert(Thing(size: 1))
    large = try form.insert(Thing(size: 2))
    both = try form.insert(Box(name: "both", things: [small.reference, large.reference]))
    try form.insert(Box(name: "small", things: [small.reference]))
    rows = try LiveRows(
      Fetch(Box.self).where(.sum(\.things, \.size) > 1).sorted(by: \.name), in: form)
    #expect(try names() == ["both"])
    small.size = .max
    // The rows are those before the step.
    #expect(try rows.failure?.code == .tooLarge && names() == ["both"])
  }

  private func names() throws -> [String] { try rows.rows.all().map(\.name) }

  @Test func aFailureStaysWhileItsCauseDoes() throws {
    try form.insert(Box(name: "none", things: []))
    #expect(try rows.failure?.code == .tooLarge && names() == ["both"])
  }

  @Test func anotherStepEndsIt() throws {
    large.size = -1
    #expect(try rows.failure == nil && names() == ["both", "small"])
    #expect(rows.diff.inserts.map(\.position) == [1])
    large.size = 1
    #expect(rows.failure?.code == .tooLarge)
    large.size = 0
    #expect(try rows.failure == nil && names() == ["both", "small"])
  }

  /// Also where nothing of the rows is another one then.
  @Test func undoAndRollBackEndIt() throws {
    try form.undo()
    #expect(try rows.failure == nil && names() == ["both"])
    try form.redo()
    #expect(rows.failure?.code == .tooLarge)
    form.rollback()
    #expect(try rows.failure == nil && names() == [])
  }

  @Test func anotherFetchEndsIt() throws {
    both.name = "all"
    #expect(rows.failure?.code == .tooLarge)
    rows.change(to: Fetch(Box.self).sorted(by: .descending(\.name)))
    #expect(try rows.failure == nil && names() == ["small", "all"])
    #expect(rows.diff.inserts.map(\.position) == [0])
    #expect(rows.diff.updates.map { rows.diff.changedProperties(of: $0) } == [["name"]])
  }

  /// What others write meanwhile is not forgotten either.
  @Test func theNewestStateIsShownWhenItEnds() throws {
    try form.store.write { tx in
      let thing = try tx.insert(Thing(size: 9))
      try tx.insert(Box(name: "of others", things: [thing.reference]))
    }
    try form.refresh()
    #expect(try rows.failure?.code == .tooLarge && names() == ["both"])
    small.size = 2
    #expect(try rows.failure == nil && names() == ["both", "of others", "small"])
  }
}
