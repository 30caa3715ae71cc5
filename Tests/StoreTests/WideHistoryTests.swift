import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Testing

@testable import Annals

/// Each change of a wide entity's definition is that definition again. Some hundred of them did not
/// fit into a checkpoint's directory: none could be written, and the store not be compacted.
@Suite struct WideHistoryTests {
  @Test func manyChangesOfAWideEntityFitIntoACheckpoint() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/wide.annals")
    let store = try Store(location, creates: true, environment: .fixed(seed: 8))
    let long = Value.string(String(repeating: "x", count: 4_000))
    for place in 1...100 {
      try store.require(
        Schema { Entity("Wide") { Attribute("p\(place)", .string, default: long) } })
    }
    try store.checkpoint()
    try store.compact()
    try store.close()
    let again = try Store(
      location, creates: false, options: .readOnly, environment: .fixed(seed: 9))
    #expect(again.version.view.schemaHistory.count == 100)
    #expect(again.version.view.schema(at: 70).entities[0].attributes.count == 70)
    #expect(try again.verifyHistory().isEmpty)
  }

  /// There are more schemas than lists of names are kept for.
  @Test func eachChangeHasTheNameThatItsPropertyHadThen() throws {
    let store = try noteStore()
    let note = try store.note("a")
    var name = "text"
    for round in 1...40 {
      try store.edit(.renameProperty(entity: "Note", name, to: "text\(round)"))
      name = "text\(round)"
      try store.write { try $0.update(note, [name: .string("\(round)")]) }
    }
    let changes = try store.history(after: 2).collect().flatMap(\.changes)
    #expect(changes.flatMap(\.changedProperties) == (1...40).map { "text\($0)" })
  }
}
