import AnnalsFormat
import AnnalsModel

/// Which way changes are applied.
package enum ChangeDirection: Sendable {
  /// From the state before to the state after.
  case forward
  /// From the state after to the state before.
  case backward
}

extension State {
  /// Applies the changes of a batch in this range: forward in their order, backward against it.
  ///
  /// Schema changes are the caller's to apply. Throws for a change that does not fit: an insert of
  /// an object that is there, an update or delete of one that is not, a value that its property
  /// does not admit, an edit outside its list.
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
      } else {
        try put(
          isForward ? property.after : property.before, in: list.arena, row: row, place: place,
          group: group, column: column)
      }
    }
    if change.kind != .update, !appears {
      try group.markDead(place.offset)
      liveCount -= 1
    }
  }

  /// Inserts new objects in consecutive rows of one leaf, column by column.
  func insertRun(_ list: ChangeList, _ run: Range<Int>) throws(StateFault) {
    let firstRow = list.changes[run.lowerBound].row
    let place = try place(firstRow)
    let group = groups.writableGroup(place.group)
    for offset in 0..<run.count where !indexes.isEmpty { try noteAll(firstRow + Int64(offset)) }
    for offset in place.offset..<place.offset + run.count {
      guard try !group.isLive(offset) else {
        throw invalid(firstRow + Int64(offset - place.offset), "inserted, but it is there")
      }
      try group.markLive(offset)
    }
    liveCount += run.count
    nextRow = max(nextRow, firstRow + Int64(run.count))

    var cursors = InsertCursors(list, run)
    while let property = cursors.nextProperty() {
      guard let column = position(of: property) else {
        throw invalid(firstRow, "no such property")
      }
      group.reserve(column: column)
      try group.slots[column].prepareToWrite()
      let isSet = Leaf.append(
        &group.slots[column].leaves[place.leaf], slot: place.slot, of: property,
        from: &cursors, declared: columns[column].kind)
      guard isSet else { throw invalid(firstRow, "a value that its property does not admit") }
    }
  }
}

/// A run of inserts seen property by property: for each change, how far its properties were taken.
///
/// Properties rise within a change, so that one look at the next of each finds all values of a
/// property, and each is looked at once.
struct InsertCursors {
  let list: ChangeList
  /// By change: the next property, and the end of its run.
  private(set) var next: ContiguousArray<UInt32>
  private var ends: ContiguousArray<UInt32>

  init(_ list: ChangeList, _ run: Range<Int>) {
    self.list = list
    next = ContiguousArray(run.map { list.changes[$0].firstProperty })
    ends = ContiguousArray(
      run.map { list.changes[$0].firstProperty + list.changes[$0].propertyCount })
  }

  /// How many changes there are.
  var count: Int { next.count }

  /// The lowest property that any change has not given yet.
  func nextProperty() -> PropertyNumber? {
    var lowest: PropertyNumber?
    for index in next.indices where next[index] < ends[index] {
      let property = list.properties[Int(next[index])].property
      if property < lowest ?? .max { lowest = property }
    }
    return lowest
  }

  /// The cell that a change gives the property; nil if it gives none. Steps past it.
  @inline(__always)
  mutating func take(_ property: PropertyNumber, of change: Int) -> ValueCell? {
    let index = next[change]
    guard index < ends[change], list.properties[Int(index)].property == property else {
      return nil
    }
    next[change] = index + 1
    return list.properties[Int(index)].after
  }

  /// The bytes that the values of a property take together, without stepping.
  func byteCount(of property: PropertyNumber) -> Int {
    var count = 0
    for index in next.indices where next[index] < ends[index] {
      let entry = list.properties[Int(next[index])]
      if entry.property == property { count += max(12, Int(entry.after.length)) }
    }
    return count
  }
}

extension Leaf {
  /// Gives consecutive rows from `slot` on their values of a property. False if the column does not
  /// admit one of them.
  static func append(
    _ leaf: inout Leaf?, slot: Int, of property: PropertyNumber,
    from cursors: inout InsertCursors, declared: ColumnKind
  ) -> Bool {
    let isUnique = isKnownUniquelyReferenced(&leaf)
    let count = cursors.count
    let end = slot + count
    let isBytes = declared.storage == .bytes && declared != .any
    let growth = isBytes ? cursors.byteCount(of: property) : 0
    let arena = cursors.list.arena
    // One kind, no references whose entity might differ: the leaf can be filled directly.
    let isPlain = declared != .any && declared != .object
    guard isPlain, leaf == nil || leaf?.header.kind == declared else {
      for index in 0..<count {
        guard let cell = cursors.take(property, of: index), !cell.isAbsence else { continue }
        guard set(&leaf, slot: slot + index, to: cell, in: arena, declared: declared) else {
          return false
        }
      }
      return true
    }
    let target: Leaf
    if let current = leaf {
      guard growth <= maximumArena - current.header.arenaCount else { return false }
      let fits =
        end <= current.header.rowCapacity
        && growth <= current.header.arenaCapacity - current.header.arenaCount
      target = isUnique && fits ? current : current.copied(rows: end, growth: growth)
    } else {
      guard growth <= maximumArena else { return false }
      target = make(kind: declared, entity: 0, rows: end, arenaCapacity: growth)
    }
    for index in 0..<count {
      guard let cell = cursors.take(property, of: index), !cell.isAbsence else { continue }
      guard declared.rawValue == cell.tag.rawValue else { return false }
      target.put(cell, in: arena, slot: slot + index)
    }
    leaf = target.header.present == 0 ? nil : target
    return true
  }
}
