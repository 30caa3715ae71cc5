import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsExchange

/// Random programs with random migrations, against a plain dictionary.
@Suite struct MigrationModelTests {
  @Test(arguments: 1...(isLong ? 200 : 12) as ClosedRange<UInt64>)
  func eachRunsOnceAndDoesWhatItSays(seed: UInt64) throws {
    do {
      var run = try MigrationRun(seed: seed)
      for _ in 0..<6 { try run.step() }
    } catch {
      throw Mismatch("seed \(seed): \(error)")
    }
  }
}

/// One version of a program: what it declares, and its migrations.
private struct Version {
  /// The attributes of the entity besides the key, all optional, by name.
  var types: [String: AttributeType] = [:]
  var migrations: [Migration] = []

  var schema: Schema {
    Schema(entities: [
      Entity(
        "Item",
        attributes: [Attribute("id", .int64, isOptional: false, isUnique: true)]
          + types.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) })
    ])
  }
}

/// A store that program after program migrates, and what it should have.
private struct MigrationRun {
  private var random: SplitMix64
  private var file = memoryFile()
  private var version = Version(types: ["a": .string, "b": .int64])
  private var items: [Int64: [String: Value]] = [:]
  private let runs = After.Runs()
  private var names: [String] = []
  private var attributeCount = 0
  private var path = 0

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    let store = try open(version)
    try write(store)
    try store.close()
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private func open(_ version: Version, readOnly: Bool = false) throws -> Store {
    var options = StoreOptions()
    options.isReadOnly = readOnly
    return try Store(
      file, schema: version.schema, migrations: version.migrations, options: options,
      environment: .fixed())
  }

  /// A few transactions of random values.
  private mutating func write(_ store: Store) throws {
    for _ in 0..<1 + number(3) {
      try store.write { tx in
        for _ in 0..<1 + number(6) {
          let id = Int64(number(20))
          var values: [String: Value] = [:]
          for (name, type) in version.types.sorted(by: { $0.key < $1.key }) where number(3) > 0 {
            let drawn = Int64(number(50))
            values[name] =
              type == .int64 ? .int(drawn) : .string(number(4) == 0 ? "x y" : "\(drawn)")
          }
          if let known = try tx.object(of: "Item", where: "id", is: .int(id)) {
            try tx.update(known.id, values)
            items[id]?.merge(values) { $1 }
          } else {
            try tx.insert("Item", values.merging(["id": .int(id)]) { $1 })
            items[id] = values
          }
        }
      }
    }
  }

  /// A program with more migrations opens the store, after the one before wrote to it; then the
  /// file is written anew, and programs of both versions look at it.
  mutating func step() throws {
    let older = version
    for _ in 0..<1 + number(2) { addMigration() }
    let before = runs.list.count
    do {
      let plan = try Store(file, creates: false).migrationPlan(
        schema: version.schema, migrations: version.migrations)
      guard plan.isPossible else { throw Mismatch("\(plan)") }
      runs.names.withLock { $0.removeLast($0.count - before) }
    }
    let store = try open(version)
    guard runs.list == names else { throw Mismatch("\(runs.list) were run, not \(names)") }
    try compare(store)
    try write(store)
    try compare(store)
    try rewrite(store)
    try store.close()
    let again = try open(version)
    guard runs.list == names else { throw Mismatch("some ran twice: \(runs.list)") }
    try compare(again)
    try again.close()
    let reading = try open(older, readOnly: true)
    guard reading.unknownMigrations.count == version.migrations.count - older.migrations.count
    else { throw Mismatch("unknown: \(reading.unknownMigrations)") }
    try compare(reading)
  }

  private mutating func addMigration() {
    let name = "migration \(version.migrations.count)"
    names.append(name)
    let runs = runs
    let attribute = version.types.keys.sorted()[number(version.types.count)]
    let work: @Sendable (WriteTransaction) throws -> Void
    switch number(4) {
    case 0:
      let type: AttributeType = version.types[attribute] == .string ? .int64 : .string
      version.types[attribute] = type
      work = { tx in
        try tx.convert("Item", attribute, to: type) { MigrationRun.converted($0) }
      }
      for id in items.keys {
        let value = items[id]?[attribute].flatMap(MigrationRun.converted)
        items[id]?[attribute] = value
      }
    case 1:
      let isKept = number(2) == 0
      let type = version.types[attribute]
      attributeCount += 2
      let parts = ["p\(attributeCount)", "p\(attributeCount + 1)"]
      if !isKept { version.types[attribute] = nil }
      for part in parts { version.types[part] = type }
      let needed = Schema(entities: [
        Entity("Item", attributes: parts.map { Attribute($0, type ?? .string) })
      ])
      work = { tx in
        try tx.require(needed)
        for item in try tx.objects(of: "Item") {
          try tx.update(item.id, [parts[0]: item[attribute], parts[1]: item[attribute]])
        }
        if !isKept { try tx.remove("Item", attribute) }
      }
      for id in items.keys {
        let value = items[id]?[attribute]
        for part in parts { items[id]?[part] = value }
        if !isKept { items[id]?[attribute] = nil }
      }
    case 2:
      attributeCount += 2
      let new = "r\(attributeCount)"
      version.types[new] = version.types.removeValue(forKey: attribute)
      work = { try $0.rename("Item", attribute, to: new) }
      for id in items.keys {
        let value = items[id]?.removeValue(forKey: attribute)
        items[id]?[new] = value
      }
    default:
      let (part, rest) = (Int64(2 + number(4)), Int64(number(2)))
      work = { tx in
        for item in try tx.objects(of: "Item") {
          if case .int(let id) = item["id"], id % part == rest { try tx.delete(item.id) }
        }
      }
      items = items.filter { $0.key % part != rest }
    }
    version.migrations.append(
      Migration(name) { tx in
        runs.names.withLock { $0.append(name) }
        try work(tx)
      })
  }

  private static func converted(_ value: Value) -> Value? {
    switch value {
    case .int(let number): .string("\(number)")
    case .string(let text): Int64(text).map(Value.int)
    default: nil
    }
  }

  /// Rewrites the store, or goes on in a copy.
  private mutating func rewrite(_ store: Store) throws {
    path += 1
    switch number(6) {
    case 0: try store.compact()
    case 1: try store.prune(store.prunePlan(before: store.token.number))
    case 2: try store.checkpoint()
    case 3:
      let copy = "/copy\(path).annals"
      try store.replay(to: copy, at: store.token.number, flatten: number(2) == 0)
      file = StoreLocation(fileSystem: file.fileSystem, path: copy)
    case 4:
      var bytes: ContiguousArray<UInt8> = []
      var export = HistoryExport(store, after: store.base.number, through: store.token.number)
      try export.write(to: { bytes += $0 })
      let copy = StoreLocation(fileSystem: file.fileSystem, path: "/import\(path).annals")
      let importing = HistoryImport(
        MemorySource(bytes), into: copy, options: StoreOptions(), environment: .fixed())
      while try importing.next() {}
      try importing.store?.close()
      file = copy
    default: break
    }
  }

  /// Compares the objects, the names of the migrations, and what verifying finds.
  private func compare(_ store: Store) throws {
    guard store.migrations.map(\.name) == names else {
      throw Mismatch("\(store.migrations.map(\.name)) are made, not \(names)")
    }
    var found: [Int64: [String: Value]] = [:]
    for item in try store.snapshot().objects(of: "Item") {
      var values = item.dictionary
      guard case .int(let id) = values.removeValue(forKey: "id") else {
        throw Mismatch("an item without an id")
      }
      found[id] = values
    }
    let expected = items.mapValues { $0.filter { !$0.value.isNull } }
    guard found == expected else { throw Mismatch("\(found), not \(expected)") }
    let problems = try store.problems()
    guard problems.isEmpty else { throw Mismatch("\(problems)") }
  }
}
