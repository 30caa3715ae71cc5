import AnnalsFormat
import AnnalsModel

/// The direction in which changes are applied.
package enum ChangeDirection: Sendable {
  /// Applies: from the state before to the state after.
  case forward
  /// Undoes: from the state after to the state before.
  case backward
}

extension State {
  /// Applies the changes of a batch in this range: forward in order, backward in reverse.
  ///
  /// The caller applies schema changes. Throws for a change that does not fit: an insert of an
  /// existing object, an update or delete of a missing one, a value that its property does not
  /// admit, an edit outside its list.
  package mutating func apply(
    _ batch: ChangeBatch, changes range: Range<Int>, direction: ChangeDirection
  ) throws(StateFault) {
    var fault: StateFault?
    batch.arena.withUnsafeBytes { arena in
      batch.changes.withUnsafeBufferPointer { changes in
        batch.properties.withUnsafeBufferPointer { properties in
          let list = ChangeList(changes: changes, properties: properties, arena: arena)
          do throws(StateFault) {
            switch direction {
            case .forward: try applyForward(list, range)
            case .backward: try applyBackward(list, range)
            }
          } catch {
            fault = error
          }
        }
      }
    }
    if let fault { throw fault }
  }

  /// Applies all changes of all transactions of a batch forward.
  package mutating func apply(_ batch: ChangeBatch) throws(StateFault) {
    try apply(batch, changes: 0..<batch.changes.count, direction: .forward)
  }

  private mutating func applyForward(_ list: ChangeList, _ range: Range<Int>) throws(StateFault) {
    var index = range.lowerBound
    while index < range.upperBound {
      let change = list.changes[index]
      let table = try writableTable(change.entity, row: change.row)
      if change.kind == .insert {
        let end = list.endOfInsertRun(from: index, limit: range.upperBound)
        if end - index >= 4 {
          try table.insertRun(list, index..<end)
          index = end
          continue
        }
      }
      try table.apply(change, of: list, direction: .forward)
      index += 1
    }
  }

  private mutating func applyBackward(_ list: ChangeList, _ range: Range<Int>) throws(StateFault) {
    for index in range.reversed() {
      let change = list.changes[index]
      let table = try writableTable(change.entity, row: change.row)
      try table.apply(change, of: list, direction: .backward)
    }
  }
}

/// The arrays of a batch, without their reference counts.
struct ChangeList {
  var changes: UnsafeBufferPointer<ChangeEntry>
  var properties: UnsafeBufferPointer<PropertyChange>
  var arena: UnsafeRawBufferPointer

  /// The end of the run of inserts from `start` on that fill consecutive rows of one leaf.
  func endOfInsertRun(from start: Int, limit: Int) -> Int {
    let first = changes[start]
    var end = start + 1
    var row = first.row
    while end < limit, row & 255 != 0 {
      let next = changes[end]
      guard next.kind == .insert, next.entity == first.entity, next.row == row + 1 else { break }
      row += 1
      end += 1
    }
    return end
  }
}

extension Table {
  /// Applies one change.
  func apply(
    _ change: ChangeEntry, of list: ChangeList, direction: ChangeDirection
  ) throws(StateFault) {
    let row = change.row
    let place = try place(row)
    let group = groups.writableGroup(place.group)
    let isForward = direction == .forward
    let isLive = try group.isLive(place.offset)
    let appears = change.kind == (isForward ? .insert : .delete)
    if hasNonUniqueIndex, change.kind != .update { try noteAll(row) }
    if appears {
      guard !isLive else { throw invalid(row, "inserted, but it is there") }
      try group.markLive(place.offset)
      liveCount += 1
      if row >= nextRow { nextRow = row + 1 }
    } else {
      guard isLive else { throw invalid(row, "changed, but it is not there") }
    }
    for index in change.propertyRange {
      let property = list.properties[index]
      guard let column = position(of: property.property) else {
        throw invalid(row, "no such property")
      }
      if property.isEdits {
        try edit(
          row, place: place, group: group, column: column,
          removing: isForward ? property.before : property.after,
          inserting: isForward ? property.after : property.before, in: list.arena)
      } else if isForward {
        try put(
          property.after, in: list.arena, row: row, place: place, group: group, column: column)
      } else {
        try putBack(
          property.before, in: list.arena, row: row, place: place, group: group, column: column)
      }
    }
    if change.kind != .update, !appears {
      try group.markDead(place.offset)
      liveCount -= 1
    }
  }
  /// Sets or clears one value as it was before; without reading its column, if that is stored. An
  /// index needs to know what goes.
  @inline(__always)
  private func putBack(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, row: Int64, place: RowPosition,
    group: RowGroup, column: Int
  ) throws(StateFault) {
    if !columns[column].isIndexed, cell.isAbsence || columns[column].kind.admits(cell.tag),
      group.edit(place.offset, column: column, to: cell, in: arena)
    {
      return
    }
    try put(cell, in: arena, row: row, place: place, group: group, column: column)
  }
}
