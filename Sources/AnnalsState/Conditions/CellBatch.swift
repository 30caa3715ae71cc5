import AnnalsModel

/// The values of many rows at one path, copied from the columns.
package struct CellBatch {
  /// A value for each row.
  package private(set) var cells: ContiguousArray<ValueCell> = []
  /// What the values point into.
  package private(set) var arena: ContiguousArray<UInt8> = []

  package init() {}

  /// The value of the row at this index.
  package func value(_ index: Int) -> Value {
    arena.withUnsafeBufferPointer { cells[index].value(in: UnsafeRawBufferPointer($0)) }
  }

  /// Reads the values of rows of an entity, all of them live, in place of earlier ones. Fastest if
  /// the rows rise.
  package mutating func read(
    _ path: BoundPath, of rows: ContiguousArray<Int64>, in table: TableView
  ) throws(StateFault) {
    cells.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
    cells.reserveCapacity(rows.count)
    var block = RowBlock.none
    for row in rows {
      let values = block.values(of: row, in: table)
      try path.withCell(of: row, values) { (cell, bytes) throws(StateFault) in
        append(cell, bytes)
      }
    }
    withExtendedLifetime(block) {}
  }

  @inline(__always)
  private mutating func append(_ cell: ValueCell, _ bytes: UnsafeRawBufferPointer) {
    cells.append(cell.copied(from: bytes, to: &arena))
  }
}
