import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Person: Record {
  var first: String
  var last: String
  static let entity = RecordEntity(
    "Person", Person.init, Property("first", \.first), Property("last", \.last))
}

private struct Note: Record {
  var when: Date
  static let entity = RecordEntity("Note", Note.init, Property("when", \.when).indexed())
}

/// The code of *Migrations*.
@Suite struct MigrationsTests {
  @Test func bothShapes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("people.annals")
    let before = Schema {
      Entity("Person") { Attribute("name", .string) }
      Entity("Note") { Attribute("when", .string, isOptional: false) }
    }
    try Store.with(path: path, schema: before) { store in
      try store.write { tx in
        try tx.insert("Person", ["name": "Ada Lovelace"])
        try tx.insert("Note", ["when": "2019-10-22T18:15:04Z"])
      }
    }
    let migrations = [
      Migration("split the name") { tx in
        for person in try tx.objects(of: "Person") {
          let name = person["name"].as(String.self) ?? ""
          let parts = name.split(separator: " ", maxSplits: 1).map { Value(String($0)) }
          try tx.update(person.id, ["first": parts.first ?? "", "last": parts.last ?? ""])
        }
        try tx.remove("Person", "name")
      },
      Migration("dates") { tx in
        try tx.convert(\Note.when) { (old: String) in try? Date(old, strategy: .iso8601) }
      },
    ]
    let plan = try Store.migrationPlan(
      path: path, records: Person.self, Note.self, migrations: migrations)
    print(plan)
    #expect(plan.isPossible && plan.steps.map(\.name) == ["split the name", "dates"])
    let store = try Store(
      path: path, records: Person.self, Note.self, migrations: migrations)
    let people = try store.snapshot().objects(of: Person.self)
    #expect(people.map(\.value.last) == ["Lovelace"])
    let notes = try store.snapshot().objects(of: Note.self)
    #expect(notes.map(\.value.when) == [Date(timeIntervalSince1970: 1_571_768_104)])
    #expect(store.migrations.map(\.name) == ["split the name", "dates"])
  }

  @Test func anOldMigrationSaysWhatItNeeds() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("people.annals")
    try Store.with(path: path, schema: Schema { Entity("Person") { Attribute("name", .string) } }) {
      try $0.write { try $0.insert("Person", ["name": "Ada"]) }
    }
    let migration = Migration("split the name") { tx in
      try tx.require(Schema { Entity("Person") { Attribute("first", .string) } })
      for person in try tx.objects(of: "Person") {
        try tx.update(person.id, ["first": person["name"]])
      }
    }
    let rename = Migration("rename") { try $0.rename("Person", "first", to: "given") }
    let now = Schema { Entity("Person") { Attribute("given", .string) } }
    let store = try Store(path: path, schema: now, migrations: [migration, rename])
    #expect(try store.snapshot().objects(of: "Person").map { $0["given"] } == ["Ada"])
  }

  @Test func progress() throws {
    var options = StoreOptions()
    options.progress = { progress in
      print(progress.migration ?? "", progress.work, progress.fraction ?? 0)
    }
    try Store(.memory, records: Note.self, options: options).close()
  }
}
