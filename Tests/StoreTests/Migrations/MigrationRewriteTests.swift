import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsExchange

/// What stores keep of migrations, whatever writes them anew, and what drafts of before become.
@Suite struct MigrationRewriteTests {
  private let names = ["split the name", "dates"]

  private func migrated() throws -> (StoreLocation, Store) {
    let file = try fileBeforeMigrations()
    return (file, try After.store(file, [After.split(removes: true), After.dates()]))
  }

  /// Opening it again, by checkpoint and by history, runs nothing.
  private func expectMade(_ file: StoreLocation, _ dates: [Bool]) throws {
    for isLater in [false, true] {
      let runs = After.Runs()
      let store = try After.store(file, [After.split(runs), After.dates(runs)])
      #expect(runs.list.isEmpty && store.migrations.map(\.name) == names)
      #expect(store.migrations.map { $0.date != nil } == dates)
      #expect(try store.problems().isEmpty)
      #expect(store.version.view.features.contains(.migrations))
      if !isLater { try store.checkpoint() }
      try store.close()
    }
  }

  @Test func prunesKeepTheNames() throws {
    for (before, dates) in [(Int64(4), [false, true]), (5, [false, false])] {
      let (file, store) = try migrated()
      try store.write { try $0.insert(After.Person(id: 3, first: "Eve", last: "E")) }
      try store.prune(store.prunePlan(before: before))
      #expect(store.migrations.map(\.number) == [3, 4])
      try store.close()
      try expectMade(file, dates)
    }
  }

  @Test func compactionsKeepThem() throws {
    for smallest in [false, true] {
      let (file, store) = try migrated()
      try store.compact(smallest: smallest)
      try store.close()
      try expectMade(file, [true, true])
    }
  }

  @Test func replaysHaveThoseUpToThere() throws {
    let (_, store) = try migrated()
    for (number, count) in [(Int64(2), 0), (3, 1), (4, 2)] {
      for flatten in [false, true] {
        let path = "/replay\(number)\(flatten).annals"
        try store.replay(to: path, at: number, flatten: flatten)
        let file = StoreLocation(fileSystem: store.writer.log.fileSystem, path: path)
        let copy = try Store(file, creates: false)
        #expect(copy.migrations.map(\.name) == Array(names.prefix(count)))
        #expect(try copy.problems().isEmpty)
      }
    }
  }

  @Test func exportsAndImports() throws {
    for pruned in [false, true] {
      let (_, store) = try migrated()
      if pruned { try store.prune(store.prunePlan(before: 4)) }
      var bytes: ContiguousArray<UInt8> = []
      var export = HistoryExport(store, after: store.base.number, through: store.token.number)
      try export.write(to: { bytes += $0 })
      let file = memoryFile()
      let importing = HistoryImport(
        MemorySource(bytes), into: file, options: StoreOptions(), environment: .fixed())
      while try importing.next() {}
      #expect(importing.notes.isEmpty)
      try importing.store?.close()
      let runs = After.Runs()
      let copy = try After.store(file, [After.split(runs), After.dates(runs)])
      #expect(runs.list.isEmpty && copy.migrations.map(\.name) == names)
      #expect(try copy.snapshot().objects(of: After.Note.self).count == 2)
      #expect(try copy.problems().isEmpty)
    }
  }

  @Test func erasuresKeepThem() throws {
    let (file, store) = try migrated()
    let person = try store.snapshot().objects(of: "Person")[0].id
    try store.erase(person, properties: ["name"], reason: "asked")
    #expect(store.migrations.map(\.number) == [3, 4])
    // What a migration moved is where it moved to.
    #expect(try store.snapshot().objects(of: After.Person.self)[0].value.first == "Ada")
    #expect(try store.snapshot(at: 2).object(person)?["name"].isErased == true)
    try store.erase(person, reason: "asked")
    try store.close()
    try expectMade(file, [true, true])
  }

  @Test func backupsHaveThem() throws {
    for pruned in [false, true] {
      let folder = try TemporaryFolder()
      let (_, store) = try migrated()
      if pruned { try store.prune(store.prunePlan(before: 4)) }
      try store.backup(to: folder.path("copy.annals"))
      try expectMade(.file(folder.path("copy.annals")), [!pruned, true])
    }
  }

  /// Whichever frame is lost, they are made; only the transactions of those in a gap are not known.
  @Test func salvagesKeepThem() throws {
    let (file, store) = try migrated()
    try store.write { try $0.insert(After.Person(id: 3, first: "Eve", last: "E")) }
    // Its directory names them.
    try store.checkpoint()
    try store.close()
    let bytes = try file.fileSystem.contents(of: file.path)
    let regions = try file.fileSystem.frames(of: file.path, .transaction, .block)
    #expect(regions.count == 5)
    for region in regions {
      let location = memoryFile()
      try location.fileSystem.put(bytes, at: location.path)
      try location.fileSystem.flip(4, at: region.offset + 30, of: location.path)
      _ = try Store.salvage(location, to: "/saved.annals")
      let saved = StoreLocation(fileSystem: location.fileSystem, path: "/saved.annals")
      let runs = After.Runs()
      let copy = try After.store(saved, [After.split(runs), After.dates(runs)])
      #expect(runs.list.isEmpty && copy.migrations.map(\.name) == names, "\(region.offset)")
      #expect(try copy.problems().isEmpty)
    }
  }

  @Test func anImportIntoAnotherStoreRecordsNone() throws {
    let (_, store) = try migrated()
    var bytes: ContiguousArray<UInt8> = []
    var export = HistoryExport(store, after: 0, through: store.token.number)
    try export.write(to: { bytes += $0 })
    let other = try Store(.memory, schema: Schema())
    let importing = HistoryImport(MemorySource(bytes), into: other)
    while try importing.next() {}
    #expect(other.migrations.isEmpty)
    #expect(importing.notes.contains { $0.contains("2 migrations are not recorded") })
  }

  /// What was pending before a conversion, or is based on the state before it, is refused.
  @Test func draftsOfBefore() throws {
    let file = try fileBeforeMigrations()
    let old = try Before.store(file)
    let form = try EditingContext(old, author: "ui")
    let note = try form.object(Before.Note.self, old.snapshot().objects(of: "Note")[0].id)
    note?.when = "30"
    let token = old.token
    let new = try After.store(file, [After.split(removes: true), After.dates()])
    for policy in [nil, .ownWins, .overwrite] as [MergePolicy?] {
      #expect(throws: AnnalsError.self) { try form.save(merging: policy) }
    }
    let id = try new.snapshot().objects(of: "Note")[0].id
    let refused = #expect(throws: AnnalsError.self) {
      try new.write(basedOn: token) { try $0.set(\After.Note.when, of: id, to: Date()) }
    }
    #expect(refused?.code == .conflict)
    #expect(
      try new.snapshot().objects(of: After.Note.self).map(\.value.when.timeIntervalSince1970) == [
        10, 20,
      ])
    #expect(try new.problems().isEmpty)
  }

  @Test func manyObjectsAndLargeValues() throws {
    struct Text: Record {
      var id: Int
      var body: Data?
      static let entity = RecordEntity(
        "Text", Text.init, Property("id", \.id).unique(), Property("body", \.body))
    }
    let file = memoryFile()
    let before = Schema {
      Entity("Text") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        Attribute("body", .string)
      }
    }
    let count = 9_000
    try Store(file, schema: before).closingAfter { store in
      try store.write { tx in
        for number in 0..<count {
          let body = number % 1_000 == 0 ? String(repeating: "x", count: 6_000) : "\(number)"
          try tx.insert("Text", ["id": .int(Int64(number)), "body": .string(body)])
        }
        try tx.insert("Text", ["id": -1])
      }
      try store.checkpoint()
    }
    let bytes = Migration("bytes") { tx in
      try tx.convert(\Text.body) { (old: String) in Data(old.utf8) }
    }
    let store = try Store(file, records: Text.self, migrations: [bytes])
    let texts = try store.snapshot().objects(of: Text.self)
    #expect(texts.count == count + 1)
    for text in texts {
      let expected =
        text.value.id < 0
        ? nil
        : text.value.id % 1_000 == 0
          ? Data(repeating: 120, count: 6_000)
          : Data("\(text.value.id)".utf8)
      #expect(text.value.body == expected)
    }
    #expect(try store.transaction(3).changes.count == count)
    #expect(try store.snapshot(at: 2).objects(of: "Text")[1]["body"] == "1")
    #expect(try store.problems().isEmpty)
  }

  @Test func referencesChangeTheirForm() throws {
    struct Tag: Record {
      var name: String
      static let entity = RecordEntity("Tag", Tag.init, Property("name", \.name).unique())
    }
    struct Note: Record {
      var id: Int
      var tags: [Reference<Tag>]
      var first: Reference<Tag>?
      static let entity = RecordEntity(
        "Note", Note.init, Property("id", \.id).unique(), Property("tags", \.tags),
        Property("first", \.first))
    }
    let file = memoryFile()
    let before = Schema {
      Entity("Tag") { Attribute("name", .string, isOptional: false, isUnique: true) }
      Entity("Note") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        Relationship("tags", to: "Tag")
        Attribute("first", .string)
      }
    }
    try Store(file, schema: before).closingAfter { store in
      try store.write { tx in
        let fog = try tx.insert("Tag", ["name": "fog"])
        try tx.insert(
          "Note",
          [
            "id": 1, "tags": .object(ObjectReference(entity: fog.entity, row: fog.row)),
            "first": "fog",
          ])
        try tx.insert("Note", ["id": 2])
      }
    }
    let migration = Migration("tags") { tx in
      try tx.convert(\Note.tags) { (old: Reference<Tag>?) in old.map { [$0] } ?? [] }
      try tx.convert(\Note.first) { (old: String) in
        try tx.object(Tag.self, where: \.name, is: old).map { Reference($0) }
      }
    }
    let store = try Store(file, records: Tag.self, Note.self, migrations: [migration])
    let notes = try store.snapshot().objects(of: Note.self)
    #expect(notes.map(\.value.tags.count) == [1, 0])
    #expect(notes.map { $0.value.first != nil } == [true, false])
    #expect(try store.problems().isEmpty)
  }

  @Test func aDryRunSaysWhatItWouldDo() throws {
    let file = try fileBeforeMigrations()
    let store = try Before.store(file, readOnly: true)
    let gone = Migration("gone") { tx in
      for person in try tx.objects(of: "Person") where person["id"] == 2 {
        try tx.delete(person.id)
      }
    }
    let plan = store.migrationPlan(
      records: After.Person.self, After.Note.self,
      migrations: [After.split(removes: true), After.dates(), gone])
    #expect(plan.isPossible && plan.steps.map(\.name) == names + ["gone"])
    #expect(plan.steps[0].added == ["Person.first", "Person.last"])
    #expect(plan.steps[0].removed == ["Person.name"])
    #expect(plan.steps[1].converted == ["Note.when"])
    #expect(plan.steps.map { $0.counts.map(\.updated) } == [[2], [2], [0]])
    #expect(plan.steps[2].counts.map(\.deleted) == [1])
    #expect(plan.steps[0].changes.map(\.kind) == [.update, .update])
    #expect("\(plan)".contains("~ Note.when, by another type"), "\(plan)")
    #expect("\(plan)".contains("last null → \"Lovelace\""), "\(plan)")
    let wrong = store.migrationPlan(
      records: After.Person.self, After.Note.self, migrations: [After.dates(), gone])
    #expect(!wrong.isPossible && wrong.steps.count == 2)
    #expect(wrong.steps[1].violations.count == 2, "\(wrong)")
    #expect(store.migrations.isEmpty && store.token.number == 2)
    #expect(try Store(file, creates: false).token.number == 2)
  }
}

extension Store {
  /// Runs `body`, and closes the store.
  fileprivate func closingAfter(_ body: (Store) throws -> Void) throws {
    try body(self)
    try close()
  }
}
