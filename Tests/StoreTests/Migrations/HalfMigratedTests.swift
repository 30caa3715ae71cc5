import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import Testing

/// Several migrations of which one fails: what the store is then, and how the next opening
/// continues; and rules that objects break until a migration has mended them.
@Suite struct HalfMigratedTests {
  private struct Late: Error {}

  private func failing(_ name: String) -> Migration { Migration(name) { _ in throw Late() } }

  private func failure(_ body: () throws -> Void) -> AnnalsError? {
    do {
      try body()
      return nil
    } catch {
      return error as? AnnalsError
    }
  }

  private func isOptional(_ property: String, _ store: Store) -> Bool? {
    store.schema.entity(named: "Person")?.attribute(named: property)?.isOptional
  }

  @Test func whatTheSecondWouldHaveFilledIsOptionalUntilThen() throws {
    let file = try fileBeforeMigrations()
    let runs = After.Runs()
    let failed = failure {
      try After.store(file, [After.dates(runs), failing("split the name")]).close()
    }
    #expect(failed?.code == .migrationFailed && failed?.thrown is Late)
    #expect(failed?.message.contains("\"split the name\"") == true)
    let between = try Store(file, creates: false)
    #expect(between.token.number == 3 && between.migrations.map(\.name) == ["dates"])
    #expect(isOptional("first", between) == true && isOptional("last", between) == true)
    #expect(between.schema.entity(named: "Note")?.attribute(named: "when")?.isOptional == false)
    #expect(try between.problems().isEmpty)
    // So whoever knows nothing of it can still write.
    try between.write { try $0.insert("Person", ["id": 3, "name": "Eve Adams"]) }
    try between.close()
    let store = try After.store(file, [After.dates(runs), After.split(runs)])
    #expect(runs.list == ["dates", "split the name"])
    #expect(isOptional("first", store) == false && isOptional("last", store) == false)
    #expect(
      try store.snapshot().objects(of: After.Person.self).map(\.value.last) == [
        "Lovelace", "Turing", "Adams",
      ])
    #expect(try store.problems().isEmpty)
    #expect(throws: AnnalsError.self) { try store.write { try $0.insert("Person", ["id": 4]) } }
  }

  @Test func itStaysRequiredOfTheLastOne() throws {
    let file = try fileBeforeMigrations()
    let half = Migration("half") { tx in
      for person in try tx.objects(of: "Person") where person["id"] == 1 {
        try tx.update(person.id, ["first": "Ada", "last": "L"])
      }
    }
    let failed = failure {
      try After.store(file, [half, After.dates(), failing("rest")]).close()
    }
    #expect(failed?.message.contains("\"rest\"") == true)
    let between = try Store(file, creates: false)
    #expect(between.token.number == 4 && isOptional("first", between) == true)
    try between.close()
    let lacking = failure {
      try After.store(file, [half, After.dates(), Migration("rest") { _ in }]).close()
    }
    let inner = lacking?.thrown as? AnnalsError
    #expect(
      inner?.violations.map { "\($0.key ?? "").\($0.property)" }.sorted() == ["2.first", "2.last"],
      "\(lacking?.message ?? "")")
    let rest = Migration("rest") { tx in
      for person in try tx.objects(of: "Person") where person["first"].isNull {
        try tx.update(person.id, ["first": "Alan", "last": "T"])
      }
    }
    let reader = try Store(file, creates: false)
    let plan = reader.migrationPlan(
      records: After.Person.self, After.Note.self, migrations: [half, After.dates(), rest])
    #expect(plan.isPossible && plan.steps.map(\.name) == ["rest"], "\(plan)")
    let store = try After.store(file, [half, After.dates(), rest])
    #expect(isOptional("first", store) == false)
    #expect(try store.problems().isEmpty)
  }

  /// A dry run of both at once ends as making them does.
  @Test func aPlanOfSeveralIsWhatIsMade() throws {
    let file = try fileBeforeMigrations()
    let migrations = [After.dates(), After.split()]
    let plan = try Before.store(file).migrationPlan(
      records: After.Person.self, After.Note.self, migrations: migrations)
    #expect(plan.isPossible && plan.steps.count == 2, "\(plan)")
    #expect(plan.steps[0].violations.isEmpty)
    let empty = try Before.store(file).migrationPlan(
      records: After.Person.self, After.Note.self,
      migrations: [After.dates(), Migration("none") { _ in }])
    #expect(!empty.isPossible && empty.steps.last?.violations.count == 4, "\(empty)")
  }

  @Test func aRequiredReferenceWaitsToo() throws {
    let file = memoryFile()
    func schema(requires: Bool) -> Schema {
      Schema {
        Entity("Box") { Attribute("name", .string) }
        Entity("Item") {
          Attribute("name", .string)
          if requires { Relationship("box", to: "Box", isOptional: false) }
        }
      }
    }
    let before = try Store(file, schema: schema(requires: false))
    try before.write { try $0.insert("Item", ["name": "a"]) }
    try before.close()
    let box = Migration("box") { tx in
      let box = try tx.insert("Box", ["name": "b"])
      for item in try tx.objects(of: "Item") {
        try tx.update(item.id, ["box": .object(ObjectReference(box))])
      }
    }
    let failed = failure {
      try Store(
        file, schema: schema(requires: true), migrations: [Migration("a") { _ in }, failing("box")]
      )
      .close()
    }
    #expect(failed?.code == .migrationFailed)
    let between = try Store(file, creates: false)
    let waiting = between.schema.entity(named: "Item")?.relationship(named: "box")
    #expect(waiting?.isOptional == true && between.migrations.count == 1)
    #expect(try between.problems().isEmpty)
    try between.close()
    let store = try Store(
      file, schema: schema(requires: true), migrations: [Migration("a") { _ in }, box])
    #expect(store.schema.entity(named: "Item")?.relationship(named: "box")?.isOptional == false)
    #expect(try store.problems().isEmpty)
  }

  // MARK: References to deleted objects

  private func tagSchema(_ rule: DeleteRule, clears: Bool = false) -> Schema {
    Schema {
      Entity("Note") { Attribute("text", .string) }
      Entity("Tag") {
        Attribute("name", .string)
        Relationship("note", to: "Note", onDelete: rule, clears ? .nullifyDangling : [])
      }
    }
  }

  /// A file with a tag of a deleted note, and one of a note that is there.
  private func fileWithDanglingTag() throws -> StoreLocation {
    let file = memoryFile()
    let store = try Store(file, schema: tagSchema(.keep))
    let note = try store.write { tx in
      let gone = try tx.insert("Note", ["text": "gone"])
      let there = try tx.insert("Note", ["text": "there"])
      for (name, note) in [("a", gone), ("b", there)] {
        try tx.insert("Tag", ["name": .string(name), "note": .object(ObjectReference(note))])
      }
      return gone
    }
    try store.write { try $0.delete(note) }
    try store.close()
    return file
  }

  /// Points tags of deleted notes, which read as none, to the note that is there.
  private var mending: Migration {
    Migration("mend") { tx in
      let there = try #require(try tx.objects(of: "Note").first)
      for tag in try tx.objects(of: "Tag") where tag["name"] == "a" {
        #expect(tag["note"].targets.isEmpty)
        try tx.update(tag.id, ["note": .object(ObjectReference(there.id))])
      }
    }
  }

  private func rule(_ store: Store) -> DeleteRule? {
    store.schema.entity(named: "Tag")?.relationship(named: "note")?.deleteRule
  }

  @Test func aMigrationMendsWhatANewDeleteRuleForbids() throws {
    let idle = Migration("idle") { _ in }
    let refused = failure {
      try Store(fileWithDanglingTag(), schema: tagSchema(.cascade), migrations: [idle]).close()
    }
    #expect(refused?.code == .migrationFailed)
    #expect(
      (refused?.thrown as? AnnalsError)?.schemaConflicts.map(\.kind) == [.danglingReference],
      "\(refused?.message ?? "")")
    let store = try Store(
      fileWithDanglingTag(), schema: tagSchema(.cascade), migrations: [mending])
    #expect(rule(store) == .cascade && store.migrations.count == 1)
    #expect(try store.snapshot().objects(of: "Tag").map { $0["note"].targets.count } == [1, 1])
    let note = try #require(try store.snapshot().objects(of: "Note").first)
    try store.write { try $0.delete(note.objectID) }
    #expect(try store.snapshot().objects(of: "Tag").isEmpty)
    #expect(try store.problems().isEmpty)
  }

  @Test func theRuleWaitsForTheMigrationThatMends() throws {
    let file = try fileWithDanglingTag()
    let idle = Migration("idle") { _ in }
    let failed = failure {
      try Store(file, schema: tagSchema(.nullify), migrations: [idle, failing("mend")]).close()
    }
    #expect(failed?.message.contains("\"mend\"") == true)
    let between = try Store(file, creates: false)
    #expect((rule(between) ?? .keep) == .keep && between.migrations.map(\.name) == ["idle"])
    #expect(try between.problems().isEmpty)
    try between.close()
    let store = try Store(file, schema: tagSchema(.nullify), migrations: [idle, mending])
    #expect(rule(store) == .nullify)
    #expect(try store.problems().isEmpty)
  }

  @Test func aDeclarationThatClearsDoesSoAfterTheClosure() throws {
    let store = try Store(
      fileWithDanglingTag(), schema: tagSchema(.nullify, clears: true),
      migrations: [
        Migration("look") { tx in
          let counts = try tx.objects(of: "Tag").map { $0["note"].targets.count }
          #expect(counts == [0, 1])
        }
      ])
    #expect(try store.snapshot().objects(of: "Tag").map { $0["note"].targets.count } == [0, 1])
    #expect(rule(store) == .nullify)
    #expect(try store.problems().isEmpty)
  }

  /// Derived attributes get their values after the closures, and need none before.
  @Test func derivedAttributesAreFilledWithMigrations() throws {
    struct Person: Record {
      var id: Int
      var name: String
      var key = ""
      static let entity = RecordEntity(
        "Person", Person.init, Property("id", \.id).unique(), Property("name", \.name).indexed(),
        Property("key", \.key).derived(.normalized(\.name)))
    }
    let file = memoryFile()
    let before = Schema {
      Entity("Person") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        Attribute("name", .string, isOptional: false)
      }
    }
    let old = try Store(file, schema: before)
    try old.write { try $0.insert("Person", ["id": 1, "name": "Ärger"]) }
    try old.close()
    let shout = Migration("shout") { tx in
      for person in try tx.objects(of: Person.self) { try tx.update(person) { $0.name += "!" } }
    }
    let store = try Store(
      file, records: Person.self, migrations: [Migration("a") { _ in }, shout])
    #expect(try store.snapshot().objects(of: Person.self).map(\.value.key) == ["arger!"])
    #expect(try store.problems().isEmpty)
  }
}
