import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Random stores that programs have migrated again and again: the second reader finds the states
/// that the command finds, whatever rewrote the file in between.
@Suite(.enabled(if: SecondReader.isHere, "python3 is missing; the second reader was not run"))
struct MigratedReaderTests {
  @Test(arguments: 1...(isLong ? 40 : 4) as ClosedRange<UInt64>)
  func bothReadersAgree(seed: UInt64) throws {
    var run = try MigratedFile(seed: seed)
    for _ in 0..<4 { try run.step() }
    #expect(run.names.count >= 4, "seed \(seed)")
  }
}

/// A file, and the newest version of the program that has migrated it.
private struct MigratedFile {
  private let folder: CommandFolder
  private var random: SeededRandom
  private let seed: UInt64
  private var types: [String: AttributeType] = ["a": .string, "b": .int64]
  private var migrations: [Migration] = []
  private var counter = 0
  var names: [String] { migrations.map(\.name) }

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    folder = try CommandFolder()
    try open { _ in }
  }

  private var path: String { folder.file("m.annals") }

  private var schema: Schema {
    Schema(entities: [
      Entity(
        "Item",
        attributes: [Attribute("id", .int64, isOptional: false, isUnique: true)]
          + types.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) },
        relationships: [Relationship("next", to: "Item", onDelete: .nullify)])
    ])
  }

  private func open(_ body: (Store) throws -> Void) throws {
    try Store.with(
      path: path, schema: schema, migrations: migrations, environment: .fixed(seed: seed), body)
  }

  /// Writes some objects, migrates the store, rewrites the file, and compares it after each.
  mutating func step() throws {
    try write()
    for _ in 0...random.below(2) { addMigration() }
    try write()
    try SecondReader.compare("m.annals", in: folder)
    let lines = folder.run("schema", "@m.annals").output.split(separator: "\n")
    let listed = lines.filter { $0.hasPrefix("  migration") }
      .compactMap { $0.split(separator: " ").dropLast(2).last }
    #expect(listed.map { "migration \($0)" } == names, "seed \(seed)")
    switch random.below(5) {
    case 0: try run(["compact"])
    case 1: try run(["prune", "--yes", "--before", "\(2 + random.below(4))"])
    case 2: try run(["erase", "--yes", "--reason", "asked"])
    case 3: try open { try $0.checkpoint() }
    default: break
    }
    try SecondReader.compare("m.annals", in: folder)
  }

  private func run(_ words: [String]) throws {
    var words = words
    words.insert("@m.annals", at: 1)
    if words[0] == "erase" {
      let known = folder.run("query", "@m.annals", "Item", "--format", "jsonl").output
      guard let id = known.firstMatch(of: /"id":(\d+)/)?.1 else { return }
      words.append("Item/\(id)")
    }
    let run = folder.run(words)
    #expect(run.status == .done || words[0] == "prune", "seed \(seed): \(run)")
  }

  private mutating func write() throws {
    var random = random
    let types = types.sorted { $0.key < $1.key }
    try open { store in
      for _ in 0...random.below(2) {
        try store.write(author: "ann") { tx in
          for _ in 0...random.below(4) {
            let id = Int64(random.below(12))
            var values: [String: Value] = [:]
            for (name, type) in types where random.below(3) > 0 {
              let drawn = random.below(50)
              values[name] =
                type == .int64 ? .int(Int64(drawn)) : .string(drawn == 7 ? "é\n" : "\(drawn)")
            }
            let others = try tx.objects(of: "Item")
            if let other = others.randomElement(using: &random) {
              values["next"] = .object(ObjectReference(other.id))
            }
            if let known = try tx.object(of: "Item", where: "id", is: .int(id)) {
              try tx.update(known.id, values)
            } else {
              try tx.insert("Item", values.merging(["id": .int(id)]) { $1 })
            }
          }
        }
      }
    }
    self.random = random
  }

  private mutating func addMigration() {
    counter += 1
    let attribute = types.keys.sorted()[random.below(types.count)]
    let new = "x\(counter)"
    let work: @Sendable (WriteTransaction) throws -> Void
    switch random.below(4) {
    case 0:
      let type: AttributeType = types[attribute] == .string ? .int64 : .string
      types[attribute] = type
      work = { tx in
        try tx.convert("Item", attribute, to: type) { old in
          switch old {
          case .int(let number): .string("\(number)")
          case .string(let text): Int64(text).map(Value.int)
          default: nil
          }
        }
      }
    case 1:
      types[new] = types[attribute]
      let needed = Schema(entities: [
        Entity("Item", attributes: [Attribute(new, types[attribute] ?? .string)])
      ])
      work = { tx in
        try tx.require(needed)
        for item in try tx.objects(of: "Item") { try tx.update(item.id, [new: item[attribute]]) }
      }
    case 2:
      types[new] = types.removeValue(forKey: attribute)
      work = { try $0.rename("Item", attribute, to: new) }
    default:
      let part = Int64(2 + random.below(4))
      work = { tx in
        for item in try tx.objects(of: "Item") {
          if case .int(let id) = item["id"], id % part == 0 { try tx.delete(item.id) }
        }
      }
    }
    migrations.append(Migration("migration \(counter)", work))
  }
}
