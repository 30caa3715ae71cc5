import AnnalsModel

/// The decoded changes of one frame, with what it takes to name what they touch.
///
/// Transactions and changes are small values that point into a page, so reading history costs one
/// allocation a frame and none a change.
package final class TransactionPage: Sendable {
  /// The frame's transactions and changes.
  package let batch: ChangeBatch
  /// The names, openings and schemas that the batch's numbers stand for.
  package let glossary: Glossary

  /// A page of these changes.
  package init(batch: ChangeBatch, glossary: Glossary) {
    self.batch = batch
    self.glossary = glossary
  }
}

/// What the numbers in a store's records stand for, as of its head.
///
/// Numbers are never reused, so that one glossary serves every transaction that the store held when
/// it was made.
package final class Glossary: Sendable {
  package let store: RawUUID
  /// The interned names; number 1 is at index 0.
  package let names: [String]
  /// The openings, rising by number.
  package let openings: [Opening]
  /// The schemas that were in force, each from the transaction that brought it, rising.
  package let schemas: [DatedSchema]
  /// Where the bytes of large values are read.
  package let largeValues: any LargeValueSource
  /// The record types, bound to the newest schema.
  package let records: BoundRecords

  /// The glossary of these tables.
  package init(
    store: RawUUID, names: [String], openings: [Opening], schemas: [DatedSchema],
    largeValues: any LargeValueSource, records: BoundRecords
  ) {
    self.store = store
    self.names = names
    self.openings = openings
    self.schemas = schemas
    self.largeValues = largeValues
    self.records = records
  }

  /// The name with this number; nil for 0, and for a number that a damaged file never explained.
  package func name(_ number: NameNumber) -> String? {
    names.indices.contains(Int(number) - 1) ? names[Int(number) - 1] : nil
  }

  /// The opening with this number; nil for 0 and for an unknown one.
  package func opening(_ number: OpeningNumber) -> Opening? {
    let index = Int(number) - 1
    if openings.indices.contains(index), openings[index].number == number { return openings[index] }
    return openings.first { $0.number == number }
  }

  /// The schema in force just after this transaction; O(log n) in the number of schema changes.
  package func schema(asOf number: Int64) -> Schema {
    var low = 0
    var high = schemas.count
    while low < high {
      let middle = (low + high) / 2
      if schemas[middle].since <= number { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? Schema() : schemas[low - 1].schema
  }

  /// The schema in force now.
  package var schema: Schema { schemas.last?.schema ?? Schema() }
}

/// A schema and the transaction since which it is in force.
package struct DatedSchema: Sendable {
  package var since: Int64
  package var schema: Schema

  package init(since: Int64, schema: Schema) {
    self.since = since
    self.schema = schema
  }
}
