import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Testing

/// The inner keys of a large index are values, too: what is erased is in none of them, whoever
/// writes the next checkpoint.
@Suite struct ErasedIndexKeyTests {
  private static let schema = Schema {
    Entity("Item") {
      Attribute("name", .string)
      IndexDescription("byName", ["name"])
    }
  }

  /// The names that are lowest keys of the index's chunks, whole.
  private func lowestNames(_ store: Store) throws -> [String] {
    let directory = try #require(try store.version.view.baseDirectory())
    let keys = directory.entities.flatMap(\.indexes).flatMap(\.chunks).map(\.lowestKey)
    // A tag comes before the text.
    return keys.map { String(decoding: $0.dropFirst(), as: UTF8.self) }.filter { $0.count == 11 }
  }

  @Test func lowestKeysAreErased() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/items.annals")
    let store = try Store(
      location, schema: ErasedIndexKeyTests.schema, environment: .fixed(seed: 1))
    try store.write { tx in
      for number in 10_000..<24_000 { try tx.insert("Item", ["name": .string("n33dLe\(number)")]) }
    }
    try store.write { try $0.insert("Item", ["name": "other"]) }
    try store.prune(store.prunePlan(before: 3))
    let names = try lowestNames(store)
    #expect(!names.isEmpty)
    for name in names {
      #expect(try ErasureTests.count(of: name, in: files, "/items.annals") > 0)
    }
    let other = try Store(location, environment: .fixed(seed: 2))
    for name in names {
      let found = try other.snapshot().objectIDs(
        DynamicFetch("Item").where(.compare("name", .equal, .string(name))))
      try store.erase(try #require(found.first), properties: ["name"], reason: "asked for")
    }
    // Another process, which had the values in memory, goes on and writes a checkpoint.
    try other.refresh()
    try other.write { try $0.insert("Item", ["name": "another"]) }
    try other.checkpoint()
    for name in names {
      #expect(try ErasureTests.count(of: name, in: files, "/items.annals") == 0, "\(name)")
    }
    #expect(try store.problems().isEmpty)
  }
}
