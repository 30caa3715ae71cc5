/// A migration that a store has made: its name, and the transaction that it was.
package struct MigrationRecord: Equatable, Sendable {
  package var name: String
  package var number: Int64

  /// The longest name of a migration, in bytes.
  package static let longestName = 255

  /// A migration of this name, made by this transaction.
  package init(name: String, number: Int64) {
    self.name = name
    self.number = number
  }

  package static func == (a: MigrationRecord, b: MigrationRecord) -> Bool {
    a.number == b.number && a.name.hasSameBytes(as: b.name)
  }

  /// Whether a name is one that a migration can have: 1 to 255 bytes, none of them a control
  /// character, so that it is one line of text.
  package static func isValid(name: String) -> Bool {
    (1...longestName).contains(name.utf8.count) && !name.utf8.contains { $0 < 0x20 }
  }
}

extension [MigrationRecord] {
  /// The migration of this name; nil if it is not among them. O(n).
  package func named(_ name: String) -> MigrationRecord? {
    first { $0.name.hasSameBytes(as: name) }
  }
}
