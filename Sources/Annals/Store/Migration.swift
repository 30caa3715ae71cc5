import AnnalsEngine
import AnnalsLog
import AnnalsModel
import Foundation

/// A change of a store's objects and schema that a new version of a program needs, made once.
///
///     let migrations = [
///       Migration("split the name") { tx in
///         for person in try tx.objects(of: Person.self) {
///           let parts = try tx.value(of: person, "name").text?.split(separator: " ") ?? []
///           try tx.update(person) { ($0.first, $0.last) = (String(parts[0]), String(parts[1])) }
///         }
///       }
///     ]
///     let store = try Store(path: "people.annals", records: Person.self, migrations: migrations)
///
/// Opening a store makes each migration that it has not made, in the order of the list, in a
/// transaction of its own; the store keeps the names of those that it has made. A new store has
/// today's schema and no objects, so there all count as made, and none is run. Never change or
/// remove a migration that was released: add another one, at the end of the list.
///
/// Before each closure what the program declares and the store lacks is added: new properties have
/// no value yet, even required ones. What contradicts the store, as an attribute of another type,
/// is for the closures to put right. After the last one the store has the program's schema, and
/// each object every value that it requires, or nothing of that migration is recorded. Between two,
/// what some object lacks is optional.
public struct Migration: Sendable {
  /// The name, by which stores remember that they have made it.
  public let name: String
  let body: @Sendable (WriteTransaction) throws -> Void

  /// A migration of this name, a line of 1 to 255 bytes. The closure changes the objects, by record
  /// types and by names, and the schema; what it throws fails the opening of the store.
  public init(_ name: String, _ body: @escaping @Sendable (WriteTransaction) throws -> Void) {
    insist(
      MigrationRecord.isValid(name: name),
      "the name of a migration is a line of 1 to \(MigrationRecord.longestName) bytes")
    self.name = name
    self.body = body
  }
}

extension [Migration] {
  /// The migrations as the engine makes them. Traps if two have the same name.
  package var steps: [MigrationStep] {
    for (place, migration) in enumerated() {
      insist(
        !self[..<place].contains { $0.name.hasSameBytes(as: migration.name) },
        "two migrations are named \"\(migration.name)\"")
    }
    return map { MigrationStep($0.name, $0.body) }
  }
}

/// A migration that a store has made.
public struct MadeMigration: Hashable, Sendable {
  /// The name.
  public let name: String
  /// The number of the transaction that made it. In a store that was salvaged, or imported after a
  /// prune, that of the last transaction which may have.
  public let number: Int64
  /// When it was made; nil if its transaction was pruned or lost.
  public let date: Date?
}

extension Store {
  /// The migrations that the store has made, in their order; those whose transactions were pruned
  /// included. Reads the date of each from the file.
  public var migrations: [MadeMigration] { made(version.migrations) }

  /// The migrations that the store has made, and that the program did not declare when it opened
  /// the store: a newer version of it has. Empty for a store that was opened without a schema.
  public var unknownMigrations: [MadeMigration] {
    made(version.migrations.unknown(to: declaredMigrations))
  }

  private func made(_ records: [MigrationRecord]) -> [MadeMigration] {
    let view = version.view
    return records.map { record in
      let isThere = record.number > view.base && view.gap(at: record.number) == nil
      let position = isThere ? try? view.position(of: record.number) : nil
      return MadeMigration(
        name: record.name, number: record.number, date: position.map { Date($0.timestamp) })
    }
  }
}

extension [MigrationRecord] {
  /// Those that a program does not declare; none for a program that declares no schema.
  func unknown(to declared: [String]?) -> [MigrationRecord] {
    guard let declared else { return [] }
    return filter { record in !declared.contains { $0.hasSameBytes(as: record.name) } }
  }
}
