import Annals
import AnnalsModel
import AnnalsStorage
import Testing

private struct Title: Record {
  var text: String
  var label = ""
  static let entity = RecordEntity(
    "Title", Title.init, Property("text", \.text),
    Property("label", \.label).derived(version: 1, from: \.text) { $0.uppercased() })
}

/// The same, by a program whose function is another one under the same version.
private struct WrongTitle: Record {
  var text: String
  var label = ""
  static let entity = RecordEntity(
    "Title", WrongTitle.init, Property("text", \.text),
    Property("label", \.label).derived(version: 1, from: \.text) {
      $0.hasPrefix("same") ? $0.uppercased() : "wrong \($0)"
    })
}

private struct PlainTitle: Record {
  var text: String
  static let entity = RecordEntity("Title", PlainTitle.init, Property("text", \.text))
}

/// The functions of a program are those of the records that it has opened the store with, before it
/// has used any of them.
@Suite struct DerivedOpeningTests {
  private func labels(_ store: Store) throws -> [Value] {
    try store.snapshot().objects(of: "Title").map { $0["label"] }
  }

  @Test func whatIsWrittenFirstIsByNames() throws {
    let file = memoryFile()
    let plain = try Store(file, records: PlainTitle.self, environment: .fixed())
    let id = try plain.write { try $0.insert(PlainTitle(text: "a")) }.objectID
    try plain.close()
    // Objects that were there get their values when the attribute comes.
    var store = try Store(file, records: Title.self, environment: .fixed())
    #expect(try labels(store) == ["A"])
    try store.close()
    store = try Store(file, records: Title.self, environment: .fixed())
    try store.write(author: "ann") { try $0.update(id, ["text": "b"]) }
    #expect(try labels(store) == ["B"])
    try store.close()
    store = try Store(file, records: Title.self, environment: .fixed())
    try store.undo(author: "ann")
    #expect(try labels(store) == ["A"])
    #expect(try store.problems() == [])
    try store.close()
    let migration = Migration("c") { tx in try tx.update(id, ["text": "c"]) }
    let other = try Store(file, creates: false, environment: .fixed())
    let plan = other.migrationPlan(records: Title.self, migrations: [migration])
    #expect(plan.isPossible && plan.steps.map { $0.counts.map(\.updated) } == [[1]], "\(plan)")
    try other.close()
    store = try Store(
      file, records: Title.self, migrations: [migration], environment: .fixed())
    #expect(try labels(store) == ["C"])
  }
}

/// What `verify` says of derived values that do not follow from the rest.
@Suite struct DerivedFindingTests {
  @Test(arguments: [0, 1, 19, 20, 21, 22, 40]) func twentyAreToldAndTheRestCounted(_ count: Int)
    throws
  {
    let file = memoryFile()
    let store = try Store(file, records: Title.self, environment: .fixed())
    try store.write { tx in
      for number in 0..<count { try tx.insert(Title(text: "t\(number)")) }
      for number in 0..<3 { try tx.insert(Title(text: "same \(number)")) }
    }
    #expect(try store.problems() == [])
    try store.close()
    let other = try Store(file, records: WrongTitle.self, environment: .fixed())
    let found = try other.problems()
    #expect(found.allSatisfy { $0.severity == .error })
    let told = found.filter { $0.message.hasPrefix("Title#") }
    #expect(told.count == min(count, 20), "\(found)")
    for (place, finding) in told.enumerated() {
      let start =
        "Title#\(place + 1).label is \"T\(place)\", and \"wrong t\(place)\" follows from "
      #expect(finding.message.hasPrefix(start), "\(finding)")
    }
    let rest = found.filter { !$0.message.hasPrefix("Title#") }.map(\.message)
    let more = count > 20 ? ["\(count - 20) more objects have a wrong Title.label"] : []
    #expect(rest == more)
  }
}
