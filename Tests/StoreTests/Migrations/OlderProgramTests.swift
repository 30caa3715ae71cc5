import Annals
import AnnalsModel
import Foundation
import Testing

/// A program that is one version older, and a store that a newer one has migrated.
@Suite struct OlderProgramTests {
  private func migrated(removes: Bool = true) throws -> StoreLocation {
    let file = try fileBeforeMigrations()
    try After.store(file, [After.split(removes: removes), After.dates()]).close()
    return file
  }

  @Test func readsAllButWhatChanged() throws {
    let file = try migrated()
    let store = try Before.store(file, readOnly: true)
    #expect(store.unknownMigrations.map(\.name) == ["split the name", "dates"])
    #expect(store.findings.map(\.severity) == [.note])
    #expect(store.findings[0].message.contains("\"dates\" (transaction 4)"))
    let now = store.snapshot()
    // The removed name is nil, as it is optional.
    #expect(try now.objects(of: Before.Person.self).map(\.value.name) == [nil, nil])
    #expect(try now.values(Fetch(Before.Note.self), \.text).count == 2)
    #expect(try now.objects(of: "Note").count == 2)
    let changed = #expect(throws: AnnalsError.self) { try now.objects(of: Before.Note.self) }
    #expect(changed?.code == .unreadableRecord)
    #expect(
      changed?.message.contains("the migration \"dates\" (transaction 4) changed it") == true,
      "\(changed?.message ?? "")")
    for number in [Int64(2), 3] {
      let past = try store.snapshot(at: number)
      #expect(try past.objects(of: Before.Note.self).map(\.value.when) == ["10", "20"])
    }
    let past = try store.snapshot(at: 2)
    #expect(
      try past.objects(of: Before.Person.self).map(\.value.name) == ["Ada Lovelace", "Alan Turing"])
    #expect(
      try past.objects(of: Before.Note.self, where: \.when == "20").map(\.value.id) == [2])
  }

  @Test func isRefusedForWriting() throws {
    let file = try migrated()
    let refused = #expect(throws: AnnalsError.self) { try Before.store(file) }
    #expect(refused?.code == .invalidSchema)
    #expect(refused?.message.contains("The migration \"dates\" (transaction 4) changed it") == true)
    #expect(try Store(file, creates: false).token.number == 4)
  }

  @Test func writesWhereNothingContradicts() throws {
    struct Person: Record {
      var id: Int
      var name: String?
      static let entity = RecordEntity(
        "Person", Person.init, Property("id", \.id).unique(), Property("name", \.name))
    }
    let file = try migrated(removes: false)
    let store = try Store(file, records: Person.self)
    #expect(store.unknownMigrations.count == 2 && store.findings.count == 1)
    let people = try store.snapshot().objects(of: Person.self)
    #expect(people.map(\.value.name) == ["Ada Lovelace", "Alan Turing"])
    try store.write { try $0.update(people[0]) { $0.name = "Ada" } }
    #expect(try store.problems().isEmpty)
  }

  @Test func aStoreForReadingSaysWhatIsPending() throws {
    let file = try fileBeforeMigrations()
    let unfit = #expect(throws: AnnalsError.self) {
      try After.store(file, [After.split(), After.dates()], readOnly: true)
    }
    #expect(unfit?.code == .invalidSchema)
    #expect(unfit?.message.contains("\"split the name\", \"dates\"") == true)
    #expect(unfit?.message.contains("Open the store for writing once") == true)
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store(
      file, records: Before.Person.self, migrations: [After.split()], options: options)
    #expect(store.findings.map(\.severity) == [.note])
    #expect(store.findings[0].message.contains("\"split the name\"") == true)
    #expect(store.migrations.isEmpty)
  }

  /// A tool takes the store as it is.
  @Test func withoutASchemaNothingIsUnknown() throws {
    let store = try Store(migrated(), creates: false)
    #expect(store.unknownMigrations.isEmpty && store.findings.isEmpty)
    #expect(store.migrations.count == 2)
  }
}
