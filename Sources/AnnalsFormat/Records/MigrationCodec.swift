import AnnalsModel

/// Encodes and decodes the names of migrations: an item of a transaction's extension area, and one
/// of a directory's.
///
///     transaction, tag 5: the names that it makes, UTF-8, with a line feed between two
///     directory, tag 7: of each migration up to it, transaction: number, name: string
///
/// FORMAT.md, "Migrations".
package enum MigrationCodec {
  private static let lineFeed: UInt8 = 0x0A

  /// Adds the item to those of a transaction's area, in the order of their tags. The names are
  /// valid.
  package static func append(_ names: [String], to items: inout ContiguousArray<UInt8>) {
    guard !names.isEmpty else { return }
    let bytes = ContiguousArray(names.joined(separator: "\n").utf8)
    items = ExtensionArea.adding(ExtensionArea.migration, bytes, to: items)
  }

  /// The names of the migrations that a transaction is; none for most. Its area was read, and keeps
  /// the rules.
  package static func names(of record: TransactionRecord) -> [String] {
    record.isPlain ? [] : names(in: record.extensions)
  }

  /// As the other form, by the items of the transaction's area.
  package static func names(in extensions: ContiguousArray<UInt8>) -> [String] {
    ExtensionArea.item(ExtensionArea.migration, in: extensions).flatMap { try? names($0) } ?? []
  }

  /// Reads the names of a transaction's item. Throws if they break a rule.
  static func names(_ bytes: ContiguousArray<UInt8>) throws(DecodeFault) -> [String] {
    var names: [String] = []
    for name in bytes.split(separator: lineFeed, omittingEmptySubsequences: false) {
      names.append(try valid(String(validating: name, as: UTF8.self)))
    }
    return names
  }

  private static func valid(_ name: String?) throws(DecodeFault) -> String {
    guard let name else { throw .invalid(at: 0, reason: "text that is not UTF-8") }
    guard MigrationRecord.isValid(name: name) else {
      throw .invalid(
        at: 0, reason: "a migration without a name, or with one that is too long or no line")
    }
    return name
  }

  /// Appends the item of a directory.
  static func encode(
    _ migrations: [MigrationRecord], into bytes: inout ContiguousArray<UInt8>
  ) {
    for migration in migrations {
      bytes.append(varInt: UInt64(bitPattern: migration.number))
      bytes.append(string: migration.name)
    }
  }

  /// Reads the item of the directory as of transaction `number`. Throws if it breaks a rule.
  static func decode(
    _ reader: inout ByteReader, upTo number: Int64
  ) throws(DecodeFault) -> [MigrationRecord] {
    var migrations: [MigrationRecord] = []
    repeat {
      let made = try reader.readVarInt64()
      guard made > 0, made >= migrations.last?.number ?? 0, made <= number else {
        throw reader.invalid("migrations out of order")
      }
      migrations.append(
        MigrationRecord(name: try valid(try reader.readString()), number: made))
    } while reader.remaining > 0
    return migrations
  }
}
