import AnnalsFormat
import AnnalsModel

extension State {
  /// How many objects of the entity there are; 0 for an entity that does not exist.
  package func count(of entity: EntityNumber) -> Int {
    findTable(entity)?.liveCount ?? 0
  }

  /// The row that the next new object of the entity gets.
  package func nextRow(of entity: EntityNumber) -> Int64 {
    findTable(entity)?.nextRow ?? 1
  }

  /// Whether the object exists.
  package func contains(_ entity: EntityNumber, _ row: Int64) throws(StateFault) -> Bool {
    guard let table = findTable(entity) else { return false }
    return try table.contains(row)
  }

  /// The entity's table for reading many values; nil for an entity that does not exist.
  package func table(_ entity: EntityNumber) -> TableView? {
    findTable(entity).map(TableView.init)
  }

  /// Calls `body` with one value of an object and the arena that it points into, valid within the
  /// call only. An object or a property that does not exist has the value null.
  @inlinable
  package func withCell<R>(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> R
  ) throws(StateFault) -> R {
    let found = try locate(entity, row, property)
    let result = try body(found.cell, found.arena)
    found.keepAlive()
    return result
  }

  /// One value of an object; null for an object or a property that does not exist.
  package func value(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber
  ) throws(StateFault) -> Value {
    try withCell(entity, row, property) { cell, arena in cell.value(in: arena) }
  }

  /// One value with what keeps its bytes alive: what `withCell` calls.
  package func locate(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber
  ) throws(StateFault) -> LocatedCell {
    guard let table = findTable(entity), let column = table.position(of: property) else {
      return .null
    }
    return try table.locate(row, column: column)
  }

  /// The rows of the entity's objects in rising order, from before the first.
  package func rows(of entity: EntityNumber) -> RowCursor {
    RowCursor(findTable(entity))
  }
}

/// A cell, with the owner of its arena.
@frozen
package struct LocatedCell {
  package var cell: ValueCell
  package var arena: UnsafeRawBufferPointer
  package var owner: AnyObject?

  init(cell: ValueCell, arena: UnsafeRawBufferPointer, owner: AnyObject?) {
    self.cell = cell
    self.arena = arena
    self.owner = owner
  }

  static var null: LocatedCell {
    LocatedCell(cell: .null, arena: UnsafeRawBufferPointer(start: nil, count: 0), owner: nil)
  }

  /// Keeps the arena until here.
  @inlinable
  package func keepAlive() { withExtendedLifetime(owner) {} }
}

extension Table {
  /// One value with what keeps its bytes alive.
  func locate(_ row: Int64, column: Int) throws(StateFault) -> LocatedCell {
    guard row >= 1, row <= RowPosition.maximumRow else { return .null }
    let place = RowPosition(row)
    guard let leaf = try leaf(place, column: column) else { return .null }
    return LocatedCell(cell: leaf.cell(place.slot), arena: leaf.arenaBytes, owner: leaf)
  }
}

/// The table of one entity, for reading many values without looking the entity up each time.
///
/// A value like the state: it reads the objects as they were when it was made.
package struct TableView: Sendable {
  let table: Table

  init(_ table: Table) { self.table = table }

  /// The entity.
  package var entity: EntityNumber { table.number }

  /// How many objects there are.
  package var count: Int { table.liveCount }

  /// How many columns there are; positions are below it.
  package var columnCount: Int { table.columns.count }

  /// The position of the property's column; nil if there is none.
  package func column(of property: PropertyNumber) -> Int? { table.position(of: property) }

  /// The property of the column at this position.
  package func property(ofColumn column: Int) -> PropertyNumber { table.columns[column].property }

  /// Whether the object exists.
  package func contains(_ row: Int64) throws(StateFault) -> Bool { try table.contains(row) }

  /// The rows of the objects in rising order, from before the first.
  package var rows: RowCursor { RowCursor(table) }

  /// Calls `body` with one value of an object and the arena that it points into, valid within the
  /// call only; null for an object that does not exist.
  @inlinable
  package func withCell<R>(
    _ row: Int64, column: Int,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> R
  ) throws(StateFault) -> R {
    let found = try locate(row, column: column)
    let result = try body(found.cell, found.arena)
    found.keepAlive()
    return result
  }

  /// One value of an object; null for an object that does not exist.
  package func value(_ row: Int64, column: Int) throws(StateFault) -> Value {
    try withCell(row, column: column) { cell, arena in cell.value(in: arena) }
  }

  /// One value with what keeps its bytes alive: what `withCell` calls.
  package func locate(_ row: Int64, column: Int) throws(StateFault) -> LocatedCell {
    try table.locate(row, column: column)
  }
}

/// A cursor over the rows of an entity's objects, rising.
package struct RowCursor: Sendable {
  private let table: Table?
  /// The last row passed; 0 before the first.
  private var position: Int64 = 0

  init(_ table: Table?) { self.table = table }

  /// Moves to just before a row; does nothing if that is passed already.
  package mutating func advance(to row: Int64) { position = max(position, row - 1) }

  /// Moves past the next object and returns its row; nil, staying, at the end.
  package mutating func next() throws(StateFault) -> Int64? {
    guard let table else { return nil }
    var group = Int(position >> 12)
    var offset = Int(position & 4095)
    while let index = table.groups.nextIndex(from: group) {
      if index != group { offset = 0 }
      if let found = try table.nextLive(inGroup: index, from: offset) {
        position = RowPosition.firstRow(ofGroup: index) + Int64(found)
        return position
      }
      group = index + 1
      offset = 0
    }
    return nil
  }
}

extension Table {
  /// The offset of the first row that lives in the group, from an offset on.
  func nextLive(inGroup index: Int, from offset: Int) throws(StateFault) -> Int? {
    guard let live = try groups.group(index)?.liveWords(), !live.isEmpty, offset < 4096 else {
      return nil
    }
    var word = offset >> 6
    var bits = live[word] & (~0 << UInt64(offset & 63))
    while bits == 0 {
      word += 1
      guard word < 64 else { return nil }
      bits = live[word]
    }
    return word << 6 + bits.trailingZeroBitCount
  }
}
