import AnnalsFormat
import AnnalsModel

/// The number of a property, and its values before and after a change.
package typealias PropertyValues = (number: PropertyNumber, before: Value, after: Value)

extension ChangeBatch {
  /// A batch of one change, which is of no transaction yet.
  package init(
    _ kind: ChangeKind, _ entity: EntityNumber, _ row: Int64, _ values: [PropertyValues] = []
  ) {
    self.init()
    append(kind, entity, row, values)
  }

  /// Adds a change, for the next transaction.
  package mutating func append(
    _ kind: ChangeKind, _ entity: EntityNumber, _ row: Int64, _ values: [PropertyValues] = []
  ) {
    let first = properties.count
    for (number, before, after) in values {
      let before = ValueCell(before, appendingTo: &arena)
      let after = ValueCell(after, appendingTo: &arena)
      properties.append(PropertyChange(property: number, before: before, after: after))
    }
    changes.append(
      ChangeEntry(
        kind: kind, entity: entity, row: row, firstProperty: first, propertyCount: values.count))
  }

  /// Adds a transaction of the changes added since the last one.
  package mutating func append(_ record: TransactionRecord) {
    var record = record
    let first = transactions.last?.changeRange.upperBound ?? 0
    record.firstChange = UInt32(first)
    record.changeCount = UInt32(changes.count - first)
    transactions.append(record)
  }

  /// The payload of one of the transactions, by row.
  package func row(_ index: Int = 0) -> ContiguousArray<UInt8> {
    var payload: ContiguousArray<UInt8> = []
    TransactionCodec.encode(self, transaction: index, into: &payload)
    return payload
  }

  /// The payload of a block of all transactions.
  package func block() -> ContiguousArray<UInt8> {
    var payload: ContiguousArray<UInt8> = []
    BlockCodec.encode(self, into: &payload)
    return payload
  }
}

/// The payload of a piece of a large value: of the whole, unless `total` and `start` say otherwise.
package func largeValuePiece(
  _ number: UInt64, _ bytes: some Collection<UInt8>, total: UInt64? = nil, start: UInt64 = 0
) -> ContiguousArray<UInt8> {
  var payload: ContiguousArray<UInt8> = []
  ContiguousArray(bytes).withUnsafeBytes { bytes in
    let total = total ?? UInt64(bytes.count)
    LargeValueCodec.encode(
      LargeValuePiece(number: number, totalLength: total, start: start, bytes: bytes),
      into: &payload)
  }
  return payload
}
