import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import Testing

/// What an opening tells of its progress.
@Suite struct OpeningProgressTests {
  private struct Stop: Error {}

  private final class Told: Sendable {
    let list = Locked<[OpeningProgress]>([])
  }

  private static let count = 10_000

  private static let before = Schema {
    Entity("Line") {
      Attribute("name", .string, isOptional: false)
      Attribute("pages", .string)
    }
    Entity("Event") { Relationship("line", to: "Line", onDelete: .nullify) }
  }

  private static let derived = Schema {
    Entity("Line") {
      Attribute("name", .string, isOptional: false)
      Attribute("pages", .string)
      Attribute("key", .string, derived: .normalized("name"))
      Attribute("events", .int64, derived: .count("events2"))
    }
    Entity("Event") { Relationship("line", to: "Line", onDelete: .nullify, inverse: "events2") }
  }

  private let file = memoryFile()

  init() throws {
    let store = try Store(file, schema: OpeningProgressTests.before)
    try store.write { tx in
      for number in 0..<OpeningProgressTests.count {
        try tx.insert("Line", ["name": .string("Änne \(number)"), "pages": .string("\(number)")])
      }
    }
    try store.close()
  }

  private func open(
    _ schema: Schema = derived, _ migrations: [Migration] = [],
    _ progress: @escaping @Sendable (OpeningProgress) throws -> Void
  ) throws -> Store {
    var options = StoreOptions()
    options.progress = progress
    return try Store(file, schema: schema, migrations: migrations, options: options)
  }

  /// Each kind of work counts up to all objects, one after the other.
  private func expectOrder(_ told: [OpeningProgress]) {
    for (one, next) in zip(told, told.dropFirst()) {
      if (one.work, one.property, one.migration) == (next.work, next.property, next.migration) {
        #expect(next.count > one.count && (next.fraction ?? 0) > (one.fraction ?? 0))
      } else {
        #expect(one.fraction == 1 || one.work == .migrating, "\(one)")
      }
    }
    #expect(told.last?.fraction == 1 && told.last?.work == .recording)
  }

  @Test func fillingTellsOfEachAttributeAndOfTheRecord() throws {
    let told = Told()
    let store = try open { next in told.list.withLock { $0.append(next) } }
    let list = told.list.withLock { $0 }
    for name in ["Line.key", "Line.events"] {
      let counts = list.filter { $0.property == name }
      #expect(counts.map(\.count) == [4_096, 8_192, 10_000])
      #expect(counts.allSatisfy { $0.work == .filling && $0.migration == nil })
    }
    expectOrder(list)
    #expect(list.count == 9)
    // Nothing is told of what follows.
    try store.write { try $0.insert("Line", ["name": "new"]) }
    try store.close()
    _ = try open { _ in Issue.record("nothing is to be done") }
  }

  @Test func migrationsTellTheirNames() throws {
    let told = Told()
    let schema = Schema {
      Entity("Line") {
        Attribute("name", .string, isOptional: false)
        Attribute("pages", .int64)
        Attribute("key", .string, derived: .normalized("name"))
      }
    }
    let pages = Migration("pages") { tx in
      try tx.convert("Line", "pages") { $0.text.flatMap { Int64($0) }.map(Value.int) }
    }
    let store = try open(schema, [Migration("idle") { _ in }, pages]) { next in
      told.list.withLock { $0.append(next) }
    }
    #expect(store.migrations.count == 2)
    let list = told.list.withLock { $0 }
    expectOrder(list)
    var works: [String] = []
    for one in list {
      let text = "\(one.migration ?? "") \(one.work) \(one.property ?? "")"
      if works.last != text { works.append(text) }
    }
    #expect(
      works == [
        "idle migrating ", "idle filling Line.key", "idle recording ", "pages migrating ",
        // A property is removed, so the entity is computed as a whole.
        "pages converting Line.pages", "pages filling Line.key", "pages recording ",
      ])
  }

  @Test(arguments: [OpeningProgress.Work.migrating, .filling, .converting, .recording])
  func throwingStopsIt(work: OpeningProgress.Work) throws {
    let schema = Schema {
      Entity("Line") {
        Attribute("name", .string, isOptional: false)
        Attribute("pages", .int64)
        Attribute("key", .string, derived: .normalized("name"))
      }
    }
    let pages = Migration("pages") { tx in
      try tx.convert("Line", "pages") { $0.text.flatMap { Int64($0) }.map(Value.int) }
    }
    let stopped = #expect(throws: AnnalsError.self) {
      try open(schema, [pages]) { if $0.work == work { throw Stop() } }
    }
    #expect(stopped?.code == .cancelled && stopped?.thrown is Stop)
    #expect(stopped?.message.contains("\"pages\"") == true, "\(stopped?.message ?? "")")
    let store = try Store(file, creates: false)
    #expect(store.token.number == 2 && store.migrations.isEmpty)
    #expect(try store.problems().isEmpty)
    try store.close()
    #expect(try open(schema, [pages]) { _ in }.migrations.count == 1)
  }

  @Test func stoppingWithoutAMigration() throws {
    let stopped = #expect(throws: AnnalsError.self) {
      try open { if $0.property == "Line.events" { throw Stop() } }
    }
    #expect(stopped?.code == .cancelled && stopped?.thrown is Stop)
    #expect(try Store(file, creates: false).schema.entity(named: "Line")?.attributes.count == 2)
  }
}
