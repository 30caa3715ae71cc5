import AnnalsFormat
import AnnalsModel

/// The parts of a transaction that were read or written so far, added up: what the tables need of
/// it besides its record. A small transaction is one part.
struct TransactionParts: Sendable {
  private(set) var count: UInt32 = 0
  private(set) var changeCount = 0
  /// The entities of the changes, rising.
  private(set) var entities: [EntityNumber] = []

  init() {}

  /// The only part of a transaction that is whole in a batch.
  init(_ record: TransactionRecord, in batch: ChangeBatch) {
    count = 1
    changeCount = Int(record.changeCount)
    entities = batch.entities(of: record.changeRange)
  }

  /// Forgets all parts, and keeps the memory.
  mutating func removeAll() {
    count = 0
    changeCount = 0
    entities.removeAll(keepingCapacity: true)
  }

  /// Adds the next part: all changes of a batch.
  mutating func add(_ part: ChangeBatch) {
    count += 1
    changeCount += part.changes.count
    for change in part.changes where change.entity != entities.last {
      _ = entities.insertRising(change.entity)
    }
  }

  /// Adds the next part: the number of its changes, and their entities, rising.
  mutating func add(_ changes: Int, of added: [EntityNumber]) {
    count += 1
    changeCount += changes
    for entity in added { _ = entities.insertRising(entity) }
  }
}

extension ChangeBatch {
  /// The entities of a run of changes, rising.
  func entities(of range: Range<Int>) -> [EntityNumber] {
    changes[range].lazy.map(\.entity).distinctRising
  }
}
