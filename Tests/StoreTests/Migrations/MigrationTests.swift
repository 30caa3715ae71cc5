import Annals
import AnnalsModel
import Foundation
import Testing

/// Migrations as programs declare and see them.
@Suite struct MigrationTests {
  private func error(_ body: () throws -> Void) -> AnnalsError? {
    #expect(throws: AnnalsError.self, performing: body)
  }

  @Test func bothShapesInOneTransactionEach() throws {
    let file = try fileBeforeMigrations()
    let runs = After.Runs()
    let store = try After.store(file, [After.split(runs, removes: true), After.dates(runs)])
    #expect(runs.list == ["split the name", "dates"])
    let people = try store.snapshot().objects(of: After.Person.self)
    #expect(people.map(\.value.first) == ["Ada", "Alan"])
    #expect(people.map(\.value.last) == ["Lovelace", "Turing"])
    let notes = try store.snapshot().objects(of: After.Note.self)
    #expect(notes.map(\.value.when.timeIntervalSince1970) == [10, 20])
    #expect(notes.map(\.value.text) == ["Fog", nil])
    #expect(store.migrations.map(\.name) == ["split the name", "dates"])
    #expect(store.migrations.map(\.number) == [3, 4])
    #expect(store.token.number == 4)
    #expect(store.migrations.allSatisfy { $0.date != nil })
    #expect(store.unknownMigrations.isEmpty && store.findings.isEmpty)
    let split = try store.transaction(3)
    #expect(split.migrations == ["split the name"] && split.context == "migration")
    #expect(split.author == nil)
    // What is between is no state of the one or the other.
    let between = try store.snapshot(at: 3)
    #expect(try between.objects(of: "Person").map { $0["first"] } == ["Ada", "Alan"])
    #expect(try between.objects(of: "Person").allSatisfy { $0["name"].isNull })
    #expect(try between.objects(of: "Note").map { $0["when"] } == ["10", "20"])
    let past = try store.snapshot(at: 2)
    #expect(try past.objects(of: "Person").map { $0["name"] } == ["Ada Lovelace", "Alan Turing"])
    #expect(try past.objects(of: "Note").map { $0["when"] } == ["10", "20"])
    let changes = try store.transaction(4).changes
    #expect(changes.map { $0.before("when") } == ["10", "20"])
    #expect(changes.allSatisfy { $0.after("when").isDate })
    #expect(try store.problems().isEmpty)
    try store.close()
    let again = try After.store(file, [After.split(runs), After.dates(runs)])
    #expect(runs.list.count == 2 && again.token.number == 4)
    #expect(again.migrations.map(\.number) == [3, 4])
  }

  @Test func aNewStoreHasMadeAll() throws {
    let file = memoryFile()
    let runs = After.Runs()
    let store = try After.store(file, [After.split(runs), After.dates(runs)])
    #expect(runs.list.isEmpty)
    #expect(store.migrations.map(\.name) == ["split the name", "dates"])
    #expect(store.token.number == 1)
    #expect(try store.transaction(1).migrations == ["split the name", "dates"])
    #expect(try store.problems().isEmpty)
    try store.close()
    _ = try After.store(file, [After.split(runs), After.dates(runs)])
    #expect(runs.list.isEmpty)
  }

  @Test func aClosureThatThrowsLeavesNoTrace() throws {
    struct Late: Error {}
    let file = try fileBeforeMigrations()
    let runs = After.Runs()
    let failing = Migration("dates") { tx in
      try tx.convert(\After.Note.when) { (old: String) in
        if old == "20" { throw Late() }
        return Date()
      }
    }
    let failed = error { _ = try After.store(file, [After.split(runs), failing]) }
    #expect(failed?.code == .migrationFailed)
    #expect(failed?.thrown is Late)
    #expect(failed?.message.contains("\"dates\"") == true)
    #expect(failed?.message.contains("Late") == true)
    // The first one stays, and is not run again.
    let read = try Store(file, creates: false)
    #expect(read.migrations.map(\.name) == ["split the name"])
    #expect(read.token.number == 3)
    #expect(try read.snapshot().objects(of: "Note").map { $0["when"] } == ["10", "20"])
    #expect(try read.problems().isEmpty)
    try read.close()
    let store = try After.store(file, [After.split(runs), After.dates(runs)])
    #expect(runs.list == ["split the name", "dates"])
    #expect(try store.snapshot().objects(of: After.Note.self).count == 2)
    #expect(try store.problems().isEmpty)
  }

  @Test func everyObjectNeedsWhatIsRequired() throws {
    let file = try fileBeforeMigrations()
    let half = Migration("half") { tx in
      for person in try tx.objects(of: "Person") where person["id"] == 1 {
        try tx.update(person.id, ["first": "Ada", "last": "L"])
      }
      try tx.convert(\After.Note.when) { (old: String) in old == "10" ? Date() : nil }
    }
    let refused = error { _ = try After.store(file, [half]) }
    #expect(refused?.code == .migrationFailed)
    let inner = refused?.thrown as? AnnalsError
    #expect(inner?.code == .invalidChange)
    #expect(
      inner?.violations.map { "\($0.entity)/\($0.key ?? "").\($0.property)" }.sorted() == [
        "Note/2.when", "Person/2.first", "Person/2.last",
      ], "\(inner?.message ?? "")")
    #expect(inner?.violations.allSatisfy { $0.rule == .required } == true)
    #expect(try Store(file, creates: false).token.number == 2)
    // What a migration of two leaves to the other one is no error.
    let first = Migration("first") { tx in
      for person in try tx.objects(of: "Person") { try tx.update(person.id, ["first": "A"]) }
      try tx.convert(\After.Note.when) { (_: String) in Date() }
    }
    let last = Migration("last") { tx in
      for person in try tx.objects(of: "Person") { try tx.update(person.id, ["last": "B"]) }
    }
    let store = try After.store(file, [first, last])
    #expect(try store.snapshot().objects(of: After.Person.self).map(\.value.last) == ["B", "B"])
    #expect(try store.problems().isEmpty)
  }

  @Test func withoutAMigrationAContradictionIsRefused() throws {
    let file = try fileBeforeMigrations()
    let unrelated = Migration("unrelated") { _ in }
    let refused = error { _ = try After.store(file, [unrelated]) }
    #expect(refused?.code == .migrationFailed)
    #expect((refused?.thrown as? AnnalsError)?.schemaConflicts.map(\.property) == ["when"])
    #expect(try Store(file, creates: false).migrations.isEmpty)
  }

  @Test func typedAndStoredNames() throws {
    let file = try fileBeforeMigrations()
    let typed = Migration("typed") { tx in
      let known = try tx.objects(of: "Person").map(\.id)
      for id in known {
        let name = try tx.value(of: id, "name").text ?? ""
        let parts = name.split(separator: " ").map(String.init)
        try tx.set(\After.Person.first, of: id, to: parts[0])
        try tx.set(\After.Person.last, of: id, to: parts[1])
        let person = try tx.object(After.Person.self, id)
        #expect(person?.value.first == parts[0])
        #expect(try person.map { try tx.value(of: $0, "name") } == .string(name))
      }
      let unknown = #expect(throws: AnnalsError.self) { try tx.value(of: known[0], "nam") }
      #expect(unknown?.code == .invalidArgument)
      try tx.convert("Note", "when") { old in
        .date(Timestamp(microseconds: Int64(old.text ?? "") ?? 0))
      }
      #expect(try tx.objects(of: After.Note.self).count == 2)
    }
    let store = try After.store(file, [typed])
    #expect(
      try store.snapshot().objects(of: After.Person.self).map(\.value.first) == ["Ada", "Alan"])
    // What the program does not declare stays.
    #expect(
      try store.snapshot().objects(of: "Person").map { $0["name"] } == [
        "Ada Lovelace", "Alan Turing",
      ])
    #expect(try store.problems().isEmpty)
  }

  @Test func renamesAndRemovals() throws {
    struct Person: Record {
      var id: Int
      var fullName: String?
      static let entity = RecordEntity(
        "Person", Person.init, Property("id", \.id).unique(),
        Property("fullName", \.fullName).indexed())
    }
    let file = try fileBeforeMigrations()
    let rename = Migration("rename") { tx in
      try tx.rename("Person", "name", to: "fullName")
      try tx.remove(entity: "Note")
      #expect(throws: AnnalsError.self) { try tx.rename("Person", "name", to: "other") }
      #expect(throws: AnnalsError.self) { try tx.remove("Person", "names") }
      #expect(throws: AnnalsError.self) { try tx.rename("Person", "fullName", to: "id") }
    }
    let store = try Store(file, records: Person.self, migrations: [rename])
    #expect(
      try store.snapshot().objects(of: Person.self).map(\.value.fullName) == [
        "Ada Lovelace", "Alan Turing",
      ])
    #expect(store.schema.entity(named: "Note") == nil)
    #expect(try store.transaction(3).changes.map(\.kind) == [.delete, .delete])
    let found = try store.snapshot().objects(of: Person.self, where: \.fullName == "Alan Turing")
    #expect(found.count == 1)
    #expect(try store.problems().isEmpty)
  }

  @Test func undoAndRevertLeaveMigrationsAlone() throws {
    let file = try fileBeforeMigrations()
    let store = try After.store(file, [After.split(), After.dates()])
    #expect(try store.undoable(author: nil).isEmpty)
    #expect(try store.undoable(author: "ann").map(\.numbers) == [2...2])
    for number in [Int64(3), 4] {
      let refused = error { try store.revert(number) }
      #expect(refused?.code == .unsupported)
      #expect(try store.revertPlan(number).migrations == store.transaction(number).migrations)
    }
  }

  @Test func consumersAndStreamsSeeItAsAnyOther() throws {
    let file = try fileBeforeMigrations()
    let reader = try Before.store(file, readOnly: true)
    let token = reader.token
    let store = try After.store(file, [After.split(removes: true), After.dates()])
    try reader.refresh()
    var kinds: [Int] = []
    try reader.history(after: token).forEach { kinds.append($0.changes.count) }
    #expect(kinds == [2, 2])
    #expect(try store.blame(store.snapshot().objects(of: "Note")[0].id).count > 0)
  }

  @Test func twoOpeningsRunEachOnce() throws {
    let file = try fileBeforeMigrations()
    let runs = After.Runs()
    let migrations = [After.split(runs), After.dates(runs)]
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      #expect(throws: Never.self) { try After.store(file, migrations).close() }
    }
    #expect(runs.list == ["split the name", "dates"])
  }
}

extension Value {
  fileprivate var isDate: Bool { if case .date = self { true } else { false } }
}
