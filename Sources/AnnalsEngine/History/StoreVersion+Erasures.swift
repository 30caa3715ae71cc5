import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

// The erasures that history records, and which of them the file does not keep.

extension StoreVersion {
  /// The erasures that were not carried out, in the order of their transactions. Reads the whole
  /// history, and what the state at the base has of their objects.
  package func unfinishedErasures() throws -> [UnfinishedErasure] {
    let erasures = try erasures(after: view.base)
    guard let last = erasures.last else { return [] }
    var found: [Int64: Int64] = [:]
    let state = try state(at: view.base)
    for (number, erasure) in erasures {
      if try erasure.targets.contains(where: { try state.hasValue(of: $0) }) {
        found[number] = view.base
      }
    }
    var cursor = try view.history(after: view.base, through: last.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions {
        for (number, erasure) in erasures where number >= record.number && found[number] == nil {
          if erasure.isLeft(in: record, of: batch) { found[number] = record.number }
        }
      }
    }
    return erasures.compactMap { number, erasure in
      found[number].map { UnfinishedErasure(number: number, erasure: erasure, found: $0) }
    }
  }
}

extension StoreVersion {
  /// The erasures of the transactions after this one, in order. Reads this history, if anything was
  /// ever erased.
  package func erasures(after number: Int64) throws -> [(number: Int64, erasure: Erasure)] {
    guard view.features.contains(.erasure) else { return [] }
    var result: [(number: Int64, erasure: Erasure)] = []
    var cursor = try view.history(after: number, through: view.head.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.part == 0 {
        if let erasure = ErasureCodec.erasure(of: record) {
          result.append((record.number, erasure))
        }
      }
    }
    return result
  }
}

/// An erasure that was recorded, and of which the file still has values.
package struct UnfinishedErasure: Sendable {
  /// The transaction that records it.
  package let number: Int64
  package let erasure: Erasure
  /// The first transaction that has such a value; that of the base if its state has one.
  package let found: Int64

  /// The finding about it.
  package var message: String {
    "transaction \(number) says what is erased, and transaction \(found) still has values of it: "
      + "the erasure was not carried out. Erase it again"
  }
}

extension Erasure {
  /// Whether a transaction still has a value that was to be erased.
  fileprivate func isLeft(in record: TransactionRecord, of batch: ChangeBatch) -> Bool {
    batch.changes[record.changeRange].contains { change in
      let object = ObjectReference(entity: change.entity, row: change.row)
      return targets.contains { target in
        target.object == object
          && batch.properties[change.propertyRange].contains { property in
            (target.properties.isEmpty || target.properties.contains(property.property))
              && [property.before, property.after].contains { !$0.isNull && $0.tag != .erased }
          }
      }
    }
  }
}
