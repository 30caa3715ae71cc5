import AnnalsModel
import Testing

@testable import AnnalsFormat

/// The row of a reference is a number in every form: what one form can hold, the others can, since
/// rewrites and undoing go from one to the other.
struct ReferenceRowTests {
  private typealias Bytes = ContiguousArray<UInt8>

  private static let rows: [Int64] = [
    0, 1, 1 << 40, 1 << 62 - 1, 1 << 62, 1 << 62 + 1, .max, .min, -1,
  ]

  private func isRefused(_ decode: () throws -> Void) -> Bool {
    do {
      try decode()
      return false
    } catch {
      return error is DecodeFault
    }
  }

  /// One insert with the values, or one update with edits.
  private func batch(_ values: [Value], edits: ObjectReference? = nil) -> ChangeBatch {
    var batch = ChangeBatch()
    for value in values {
      let cell = ValueCell(value, appendingTo: &batch.arena)
      batch.properties.append(PropertyChange(property: 1, before: .null, after: cell))
    }
    if let edits {
      let start = UInt64(batch.arena.count)
      batch.arena.append(fixed: UInt32(0))
      edits.append(to: &batch.arena)
      let cell = ValueCell(tag: .objects, bits: start, length: 16)
      let none = ValueCell(tag: .objects, bits: start, length: 0)
      batch.properties.append(
        PropertyChange(property: 1, before: none, after: cell, isEdits: true))
    }
    for place in batch.properties.indices {
      batch.changes.append(
        ChangeEntry(
          kind: edits == nil ? .insert : .update, entity: 1, row: Int64(place) + 1,
          firstProperty: place, propertyCount: 1))
    }
    var record = TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 0))
    record.changeCount = UInt32(batch.changes.count)
    batch.transactions.append(record)
    return batch
  }

  @Test(arguments: rows) func records(row: Int64) {
    let isBeyond = !(0..<1 << 62 ~= row)
    let reference = ObjectReference(entity: 1, row: row)
    let sound = ObjectReference(entity: 1, row: 5)
    for batch in [
      batch([.object(reference)]), batch([.object(sound), .object(reference)]),
      batch([.object(sound), .string("x"), .object(reference)]),
      batch([.objects([sound, reference])]), batch([], edits: reference),
    ] {
      var bytes: Bytes = []
      TransactionCodec.encode(batch, transaction: 0, into: &bytes)
      #expect(
        isRefused {
          var decoded = ChangeBatch()
          try bytes.withUnsafeBytes { try TransactionCodec.decode($0, into: &decoded) }
        } == isBeyond)
      bytes = []
      BlockCodec.encode(batch, into: &bytes)
      #expect(
        isRefused {
          var decoded = ChangeBatch()
          try bytes.withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
        } == isBeyond)
    }
  }

  @Test(arguments: rows) func chunks(row: Int64) {
    let isBeyond = !(0..<1 << 62 ~= row)
    var presence = ContiguousArray<UInt64>(repeating: 0, count: RowPresence.maximumSpan / 64)
    presence[0] = 0b111
    let rows = RowPresence(words: presence)
    for kind in [ColumnKind.object, .objects, .any] {
      var values = ColumnValues(kind: kind, rows: rows)
      values.target = kind == .object ? 1 : 0
      for (place, row) in [1, row, 2].enumerated() {
        let reference = ObjectReference(entity: 1, row: row)
        if kind == .object {
          values.words.append(UInt64(bitPattern: row))
          continue
        }
        let count = values.bytes.count
        if kind == .objects || place == 2 {
          ObjectReference(entity: 1, row: 7).append(to: &values.bytes)
        }
        reference.append(to: &values.bytes)
        let tag = place == 2 ? ValueTag.objects : .object
        if kind == .any { values.tags.append(tag.rawValue) }
        values.lengths.append(UInt64(values.bytes.count - count))
      }
      var chunk: Bytes = []
      var deflate = Deflate()
      ColumnChunkCodec.encode(
        values, entity: 1, property: 2, firstRow: 1, into: &chunk, deflate: &deflate)
      #expect(
        isRefused { try chunk.withUnsafeBytes { _ = try ColumnChunkCodec.decode($0) } } == isBeyond,
        "\(kind)")
    }
  }
}
