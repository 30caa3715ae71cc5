import Annals
import AnnalsFaults
import AnnalsStorage
import Testing

/// What is left of a store that could not be made as it was wanted.
@Suite struct StoreCreationTests {
  private let bad = Schema { Entity("a/b") { Attribute("id", .string) } }
  private let good = Schema { Entity("Note") { Attribute("id", .string) } }

  @Test func aRefusedSchemaLeavesNoFile() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/new.annals")
    #expect(throws: AnnalsError.self) { try Store(location, schema: bad) }
    #expect(files.paths == [])
    var exclusive = StoreOptions()
    exclusive.lockMode = .exclusive
    #expect(throws: AnnalsError.self) { try Store(location, schema: bad, options: exclusive) }
    #expect(files.paths == [])
    #expect(throws: AnnalsError.self) { try Store(location, records: SlashedRecord.self) }
    #expect(files.paths == [])
    // The store that there is stays, empty as it may be.
    try Store(location, creates: true).close()
    #expect(throws: AnnalsError.self) { try Store(location, schema: bad) }
    #expect(files.paths == ["/new.annals"])
    let store = try Store(location, schema: good)
    #expect(throws: AnnalsError.self) { try Store(location, schema: bad) }
    #expect(store.token.number == 1)
    try store.close()
  }

  @Test func aRefusedSchemaLeavesNoFileAfterAPowerCut() throws {
    let files = FaultyFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/new.annals")
    #expect(throws: AnnalsError.self) { try Store(location, schema: bad) }
    files.cutPower()
    let count = files.forEachSurvivor { #expect($0.files.paths == [], "\($0.description)") }
    #expect(count == 1)
  }

  @Test func aStoreThatOthersWriteToStays() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/new.annals")
    let first = try Store(location, creates: true)
    let other = try Store(location, schema: good)
    first.discardIfUnused()
    #expect(files.paths == ["/new.annals"])
    #expect(try Store(location, creates: false).token.number == 1)
    try other.close()
    #expect(throws: AnnalsError.self) { try first.write { _ in } }
  }
}

private struct SlashedRecord: Record {
  var id: String

  static let entity = RecordEntity("a/b", SlashedRecord.init, Property("id", \.id))
}
