import Annals
import AnnalsModel
import Testing

/// Unique keys and limits of the number of references that a program declares anew with several
/// migrations: what objects break after the first one waits for the others.
@Suite struct WaitingRulesTests {
  private struct Late: Error {}

  private let idle = Migration("idle") { _ in }
  private let failing = Migration("mend") { _ in throw Late() }

  private func schema(unique: Bool, index: Bool, count: ClosedRange<Int>?) -> Schema {
    Schema {
      Entity("Tag") {
        Attribute("name", .string, isUnique: unique)
        Attribute("color", .string)
        if index {
          IndexDescription("look", ["name", "color"], isUnique: true)
        }
      }
      Entity("Note") {
        Attribute("title", .string)
        Relationship("tags", to: "Tag", isToMany: true, count: count)
      }
    }
  }

  /// A file with two tags of one name and color, and a note with both.
  private func fileBefore() throws -> StoreLocation {
    let file = memoryFile()
    let store = try Store(file, schema: schema(unique: false, index: false, count: nil))
    try store.write { tx in
      let tags = try (0..<2).map { _ in try tx.insert("Tag", ["name": "a", "color": "red"]) }
      try tx.insert("Note", ["title": "n", "tags": .objects(tags.map(ObjectReference.init))])
    }
    try store.close()
    return file
  }

  private func mending(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) -> Migration {
    Migration("mend", body)
  }

  /// Opens with a first migration that does nothing and a second that fails, and gives what is
  /// between to `look`; then with a second that mends.
  private func migrate(
    _ declared: Schema, _ mend: @escaping @Sendable (WriteTransaction) throws -> Void,
    between look: (Schema) -> Void
  ) throws -> Store {
    let file = try fileBefore()
    #expect(throws: AnnalsError.self) {
      try Store(file, schema: declared, migrations: [idle, failing]).close()
    }
    let between = try Store(file, creates: false)
    #expect(between.migrations.map(\.name) == ["idle"])
    #expect(try between.problems().isEmpty)
    look(between.schema)
    // Who writes meanwhile need not obey what waits.
    try between.write { try $0.insert("Tag", ["name": "a", "color": "red"]) }
    try between.close()
    let lacking = #expect(throws: AnnalsError.self) {
      try Store(file, schema: declared, migrations: [idle, Migration("mend") { _ in }]).close()
    }
    #expect((lacking?.thrown as? AnnalsError)?.violations.isEmpty == false)
    let store = try Store(file, schema: declared, migrations: [idle, mending(mend)])
    #expect(store.migrations.map(\.name) == ["idle", "mend"])
    #expect(try store.problems().isEmpty)
    return store
  }

  private static func renumber(_ tx: WriteTransaction) throws {
    for (place, tag) in try tx.objects(of: "Tag").enumerated() {
      try tx.update(tag.id, ["name": .string("a\(place)")])
    }
  }

  @Test func aUniqueAttribute() throws {
    let declared = schema(unique: true, index: false, count: nil)
    let store = try migrate(declared, WaitingRulesTests.renumber) { schema in
      #expect(schema.entity(named: "Tag")?.attribute(named: "name")?.isUnique == false)
    }
    #expect(throws: AnnalsError.self) { try store.write { try $0.insert("Tag", ["name": "a1"]) } }
    #expect(try store.snapshot().objects(of: "Tag").count == 3)
  }

  @Test func aUniqueIndex() throws {
    let declared = schema(unique: false, index: true, count: nil)
    let store = try migrate(declared, WaitingRulesTests.renumber) { schema in
      #expect(schema.entity(named: "Tag")?.indexes.map(\.isUnique) == [false])
    }
    #expect(store.schema.entity(named: "Tag")?.indexes.map(\.isUnique) == [true])
    #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert("Tag", ["name": "a1", "color": "red"]) }
    }
  }

  @Test func aLimitOfReferences() throws {
    let declared = schema(unique: false, index: false, count: 0...1)
    let store = try migrate(
      declared,
      { tx in
        for note in try tx.objects(of: "Note") {
          let first = try #require(note["tags"].targets.first)
          try tx.update(note.id, ["tags": .objects([first])])
        }
      },
      between: { schema in
        let tags = schema.entity(named: "Note")?.relationship(named: "tags")
        #expect(tags?.maximumCount == nil && tags?.minimumCount == nil)
      })
    #expect(store.schema.entity(named: "Note")?.relationship(named: "tags")?.maximumCount == 1)
  }

  /// What all objects obey already does not wait.
  @Test func whatIsObeyedIsRequiredAtOnce() throws {
    let file = try fileBefore()
    let declared = schema(unique: false, index: false, count: 1...2)
    #expect(throws: AnnalsError.self) {
      try Store(file, schema: declared, migrations: [idle, failing]).close()
    }
    let between = try Store(file, creates: false)
    let tags = between.schema.entity(named: "Note")?.relationship(named: "tags")
    #expect(tags?.minimumCount == 1 && tags?.maximumCount == 2)
  }

  @Test func aPlanWaitsAlike() throws {
    let store = try Store(fileBefore(), creates: false)
    let plan = store.migrationPlan(
      schema: schema(unique: true, index: true, count: 0...1),
      migrations: [
        idle,
        mending { tx in
          try WaitingRulesTests.renumber(tx)
          for note in try tx.objects(of: "Note") { try tx.update(note.id, ["tags": .null]) }
        },
      ])
    #expect(plan.isPossible && plan.steps.count == 2, "\(plan)")
  }
}
