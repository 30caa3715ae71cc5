import Annals
import AnnalsEngine
import AnnalsModel
import Testing

/// Migrations that an open store makes, as a replica's is.
@Suite struct OpenMigrationTests {
  /// A small commit changes the newest version in place, which keeps what it knew of migrations.
  @Test(arguments: [StoreOptions.Durability.full, .deferred])
  func theNewestVersionKnowsThemAtOnce(durability: StoreOptions.Durability) throws {
    var options = StoreOptions()
    options.durability = durability
    options.lockMode = .exclusive
    let store = try Store(memoryFile(), schema: noteSchema, options: options)
    var names: [String] = []
    for number in 1...50 {
      try store.write { try $0.insert("Note", ["id": .string("\(number)")]) }
      guard number % 10 == 0 else { continue }
      names.append("migration \(number)")
      var origin = TransactionOrigin()
      try origin.note(migrations: [names[names.count - 1]])
      _ = try store.commitTransaction(origin) { _ in }
      #expect(store.version.records.migrations.map(\.name) == names)
      #expect(store.version.migrations.map(\.name) == names)
    }
    try store.close()
  }
}
