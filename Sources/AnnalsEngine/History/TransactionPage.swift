import AnnalsModel
import AnnalsStorage

/// The decoded changes of one frame, with everything needed to name what they touch.
///
/// Transactions and changes are small values that refer to a page, so reading history allocates
/// once per frame and never per change.
@usableFromInline
package final class TransactionPage: Sendable {
  /// The frame's transactions and changes.
  @usableFromInline package let batch: ChangeBatch
  /// The names, openings and schemas for the batch's numbers.
  package let glossary: Glossary
  /// The names of properties, if one schema applies to all of the transactions.
  private let names: PropertyNames?
  /// Whether no null reads as a default.
  @usableFromInline let nullIsNull: Bool
  /// The batch's shared texts, each decoded once.
  private let texts: ContiguousArray<String>

  /// Creates a page of these changes.
  package init(batch: ChangeBatch, glossary: Glossary) {
    self.batch = batch
    self.glossary = glossary
    texts = batch.arena.withUnsafeBytes { arena in
      ContiguousArray(
        batch.sharedTexts.lazy.map { cell in
          guard cell.usesArena, cell.arenaRange.upperBound <= arena.count else { return "" }
          return String(decoding: cell.bytes(in: arena), as: UTF8.self)
        })
    }
    if let first = batch.transactions.first, let last = batch.transactions.last,
      glossary.hasOneSchema(min(first.number, last.number), max(first.number, last.number))
    {
      let one = glossary.names(asOf: first.number)
      names = one
      nullIsNull = one.hasNoDefaults
    } else {
      names = nil
      nullIsNull = false
    }
  }

  /// Creates a page of changes that are in no log, as those of one transaction.
  convenience init(
    of changes: ChangeBatch, numbered number: Int64,
    dated date: Timestamp = Timestamp(microseconds: 0), _ glossary: Glossary
  ) {
    var batch = changes
    var record = TransactionRecord(number: number, timestamp: date)
    record.changeCount = UInt32(batch.changes.count)
    batch.transactions = [record]
    self.init(batch: batch, glossary: glossary)
  }

  /// The changes of a page of one transaction.
  var changes: [Change] {
    batch.changes.indices.map { Change(page: self, transaction: 0, index: $0) }
  }

  /// The name of a property of a change; the arguments index the batch.
  func propertyName(
    _ property: PropertyNumber, of change: Int, in transaction: Int
  ) -> String {
    let entity = batch.changes[change].entity
    return names(of: transaction).name(of: property, in: entity) ?? "#\(property)"
  }

  /// What a null reads as in a property of an existing object: the default, for a required one.
  func unwritten(
    _ property: PropertyNumber, in entity: EntityNumber, of transaction: Int
  ) -> Value {
    names(of: transaction).unwritten(property, in: entity)
  }

  /// The names just after the transaction at this index of the batch.
  @inline(__always)
  private func names(of transaction: Int) -> PropertyNames {
    names ?? glossary.names(asOf: batch.transactions[transaction].number)
  }

  /// The edits of a to-many relationship by an update.
  func edits(_ property: PropertyChange) -> RelationshipEdits {
    batch.arena.withUnsafeBytes { arena in
      RelationshipEdits(
        removed: RelationshipEdits.list(property.before, in: arena),
        inserted: RelationshipEdits.list(property.after, in: arena))
    }
  }

  /// The value of one of the batch's cells.
  @usableFromInline
  func value(_ cell: ValueCell) -> Value {
    if cell.shared != 0, let value = sharedValue(cell) { return value }
    return batch.arena.withUnsafeBytes { cell.value(in: $0) }
  }

  private func sharedValue(_ cell: ValueCell) -> Value? {
    let index = Int(cell.shared) - 1
    guard index < texts.count else { return nil }
    // The hint may belong to another batch; the position in the arena is this batch's in any case.
    let text = batch.sharedTexts[index]
    guard text.bits == cell.bits, text.length == cell.length, !cell.isLarge else { return nil }
    switch cell.tag {
    case .string: return .string(texts[index])
    case .url: return .url(texts[index])
    case .json: return .json(texts[index])
    default: return nil
    }
  }
}

/// Names for the numbers in a store's records, as of its head.
///
/// Numbers are never reused, so one glossary serves every transaction that the store held when it
/// was made.
package final class Glossary: Sendable {
  package let store: RawUUID
  /// The interned names; number 1 is at index 0.
  package let nameTable: [String]
  /// The openings, rising by number.
  package let openings: [Opening]
  /// The schemas that there have been.
  package let schemas: SchemaVersions
  /// Reads the bytes of large values.
  package let largeValues: any LargeValueSource
  /// The record types, bound to the newest schema.
  package let records: BoundRecords
  /// The names made last, by the number of schemas in use.
  private let names = Locked<[Int: PropertyNames]>([:])
  /// How many are kept: as many as there are properties, each takes memory.
  private static let maximumNames = 16

  /// Creates the glossary of these tables.
  package init(
    store: RawUUID, names: [String], openings: [Opening], schemas: SchemaVersions,
    largeValues: any LargeValueSource, records: BoundRecords
  ) {
    self.store = store
    nameTable = names
    self.openings = openings
    self.schemas = schemas
    self.largeValues = largeValues
    self.records = records
  }

  /// The name with this number; nil for 0, and for a number that a damaged file does not define.
  package func name(_ number: NameNumber) -> String? {
    nameTable.indices.contains(Int(number) - 1) ? nameTable[Int(number) - 1] : nil
  }

  /// The opening with this number; nil for 0 and for an unknown one.
  package func opening(_ number: OpeningNumber) -> Opening? {
    let index = Int(number) - 1
    if openings.indices.contains(index), openings[index].number == number { return openings[index] }
    return openings.first { $0.number == number }
  }

  /// The schema just after this transaction.
  package func schema(asOf number: Int64) -> Schema { schemas.schema(asOf: number) }

  /// Whether one schema applies after each of the transactions from one to another.
  func hasOneSchema(_ first: Int64, _ last: Int64) -> Bool {
    schemas.count(asOf: first) == schemas.count(asOf: last)
  }

  /// The names of properties just after this transaction: those of the schema then, otherwise those
  /// of today. Made on first use; O(properties) then, O(log schema changes) later.
  func names(asOf number: Int64) -> PropertyNames {
    let count = schemas.count(asOf: number)
    return names.withLock { known in
      if let found = known[count] { return found }
      if known.count == Glossary.maximumNames { known = [:] }
      let made = PropertyNames(schemas.schema(numbered: count), otherwise: schema)
      known[count] = made
      return made
    }
  }

  /// The schema in force now.
  package var schema: Schema { schemas.newest }
}
