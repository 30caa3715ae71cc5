import AnnalsFormat
import AnnalsModel

/// The parts of a transaction that were read or written so far, added up: what the tables need of
/// it besides its record. A small transaction is one part.
struct TransactionParts: Sendable {
  private(set) var count: UInt32 = 0
  private(set) var changeCount = 0
  /// The entities of the changes, rising.
  private(set) var entities: [EntityNumber] = []
  /// Their objects.
  private(set) var objects = TouchedObjects()

  /// Forgets all parts, and keeps the memory.
  mutating func removeAll() {
    count = 0
    changeCount = 0
    entities.removeAll(keepingCapacity: true)
    objects.removeAll()
  }

  /// Adds the next part: these changes of a batch.
  mutating func add(_ changes: Range<Int>, of batch: ChangeBatch) {
    count += 1
    changeCount += changes.count
    // Consecutive rows are put together here: to change the last range of the list for each row
    // takes 60 instructions more.
    var rows: RowRange?
    for index in changes {
      let (entity, row) = (batch.changes[index].entity, batch.changes[index].row)
      if let last = rows, last.entity == entity, last.last == row - 1 {
        rows = RowRange(entity, last.first...row)
      } else {
        if let rows { add(rows) }
        rows = RowRange(entity, row...row)
      }
    }
    if let rows { add(rows) }
  }

  /// Adds the next part, by its summary: the rows between those of its changes are among its
  /// objects, too.
  mutating func add(_ part: BlockSummary) {
    count += 1
    changeCount += part.changeCount
    for entity in part.entities {
      let greatest = FormatLimits.maximumRow
      add(
        RowRange(
          entity.entity, min(entity.minimumRow, greatest)...min(entity.maximumRow, greatest)))
    }
  }

  private mutating func add(_ rows: RowRange) {
    let last = entities.last ?? 0
    if last < rows.entity {
      entities.append(rows.entity)
    } else if last > rows.entity {
      _ = entities.insertRising(rows.entity)
    }
    objects.add(rows)
  }
}
