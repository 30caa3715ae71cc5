import Annals
import AnnalsFaults
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
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

  /// `mktemp` and file dialogs make the file that a program is to fill.
  @Test func anEmptyFileBecomesAStoreWhereOneWasToBeMade() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/new.annals")
    try files.put([], at: "/new.annals")
    for options in [StoreOptions(), .readOnly] {
      let error = #expect(throws: AnnalsError.self) {
        try Store(location, creates: false, options: options)
      }
      #expect(error?.code == .notAnAnnalsFile)
    }
    #expect(try files.contents(of: "/new.annals") == [])
    let store = try Store(location, schema: good)
    try store.write { try $0.insert("Note") }
    // A second one opens the first's.
    #expect(try Store(location, schema: good).id == store.id)
    #expect(files.paths == ["/new.annals"])
    #expect(try store.verify().allSatisfy { $0.severity == .note })
    // Anything else in the file is left alone.
    try files.put([1], at: "/other.annals")
    let other = StoreLocation(fileSystem: files, path: "/other.annals")
    #expect(throws: AnnalsError.self) { try Store(other, schema: good) }
    #expect(try files.contents(of: "/other.annals") == [1])
  }

  /// It was a store without a schema then.
  @Test func aRefusedSchemaLeavesAnEmptyFileEmpty() throws {
    let files = FaultyFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/new.annals")
    let empty = try files.create("/new.annals", like: nil, requiresOwner: false)
    try empty.sync()
    empty.close()
    try files.syncDirectory(of: "/new.annals")
    #expect(throws: AnnalsError.self) { try Store(location, schema: bad) }
    #expect(files.paths == ["/new.annals"])
    files.cutPower()
    let count = files.forEachSurvivor { survivor in
      #expect(survivor.files.paths == ["/new.annals"], "\(survivor.description)")
      #expect((try? survivor.files.contents(of: "/new.annals")) == [], "\(survivor.description)")
    }
    #expect(count == 1)
  }

  @Test func aFileLeftEmptyHasItsMode() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: attributes))
    #expect(throws: AnnalsError.self) { try Store(path: path, schema: bad) }
    let found = try FileManager.default.attributesOfItem(atPath: path)
    #expect(found[.posixPermissions] as? Int == 0o600)
    #expect(found[.size] as? Int == 0)
    #expect(try folder.names() == ["a.annals"])
    try Store(path: path, schema: good).close()
    // A store that another wrote to meanwhile stays.
    try Data().write(to: URL(fileURLWithPath: path))
    let first = try Store(.file(path), creates: true)
    try Store(path: path, schema: good).close()
    first.discardIfUnused()
    #expect(try Store(path: path).token.number == 1)
  }

  /// Two that met the same empty file: the slower one must not replace the faster one's store.
  @Test func aFileThatIsEmptyNoMoreIsLeftAlone() throws {
    let files = MemoryFileSystem()
    try files.put([], at: "/new.annals")
    let new = NewLog(
      store: RawUUID(high: 1, low: 2), created: Timestamp(microseconds: 1))
    #expect(try LogFile.create(inPlaceOfEmpty: "/new.annals", in: files, new))
    let made = try files.contents(of: "/new.annals")
    #expect(made.count == 12_288)
    let isMade = try LogFile.create(
      inPlaceOfEmpty: "/new.annals", in: files,
      NewLog(store: RawUUID(high: 3, low: 4), created: Timestamp(microseconds: 1)))
    #expect(!isMade)
    #expect(try files.contents(of: "/new.annals") == made)
  }

  @Test func aStoreInPlaceOfAnEmptyFileHasItsMode() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: attributes))
    try Store(path: path, schema: good).close()
    let found = try FileManager.default.attributesOfItem(atPath: path)
    #expect(found[.posixPermissions] as? Int == 0o600)
    #expect(try folder.names() == ["a.annals"])
  }

  @Test func aTildeThatNobodyExpandedIsNamed() throws {
    for creates in [true, false] {
      let error = #expect(throws: AnnalsError.self) {
        try Store(.file("~/no such folder/x.annals"), creates: creates)
      }
      #expect(error?.code == .notFound)
      let message = try #require(error).message
      #expect(message.contains("obody expanded the `~`"), "\(message)")
    }
    let error = #expect(throws: AnnalsError.self) {
      try Store(.file("/no such folder/x.annals"), creates: false)
    }
    #expect(error?.message.contains("~") == false)
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
