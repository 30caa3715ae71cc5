import AnnalsModel

/// Reads the values at several paths from the objects of an entity, one object after the other.
///
/// A value like the state: it reads the objects as they were when its paths were bound.
package struct RowScan: Sendable {
  private let table: Table?
  private let paths: ContiguousArray<BoundPath>
  private let filter: BoundCondition?
  private let test: BoundCondition?

  /// The objects of the entity of which `filter` is true, each with what `test` says of it.
  package init(
    _ paths: ContiguousArray<BoundPath>, over entity: EntityNumber, in state: State,
    where filter: BoundCondition? = nil, testing test: BoundCondition? = nil
  ) {
    table = state.findTable(entity)
    self.paths = paths
    self.filter = filter
    self.test = test
  }

  /// Calls `body` with each row, rising, the values at the paths in their order, valid within the
  /// call only, and whether the test is true; true where there is none. O(objects × paths).
  package func forEachRow(
    _ body: (Int64, UnsafeBufferPointer<RowCell>, Bool) -> Void
  ) throws(StateFault) {
    guard let table else { return }
    let view = TableView(table)
    var rows = RowCursor(table)
    var block = RowBlock.none
    var scratch: ContiguousArray<UInt8> = []
    let cells = UnsafeMutableBufferPointer<RowCell>.allocate(capacity: paths.count)
    cells.initialize(repeating: .null)
    defer { cells.deallocate() }
    while let row = try rows.next() {
      let values = block.values(of: row, in: view)
      if let filter, try !filter.matches(row, values, &scratch) { continue }
      let isTrue = try test?.matches(row, values, &scratch) ?? true
      try read(0, row, values, cells) { body(row, UnsafeBufferPointer(cells), isTrue) }
    }
  }

  /// Calls `body` with the values at the paths of one row, and whether the test is true, as
  /// `forEachRow` does; returns false for a row without an object, and for one of which the filter
  /// is not true.
  package func readRow(
    _ row: Int64, _ body: (UnsafeBufferPointer<RowCell>, Bool) -> Void
  ) throws(StateFault) -> Bool {
    guard let table,
      try table.contains(row)
    else { return false }
    let block = TableView(table).block(of: row)
    guard let values = block.view(of: row) else { return false }
    defer { withExtendedLifetime(block) {} }
    var scratch: ContiguousArray<UInt8> = []
    if let filter, try !filter.matches(row, values, &scratch) { return false }
    let isTrue = try test?.matches(row, values, &scratch) ?? true
    let cells = UnsafeMutableBufferPointer<RowCell>.allocate(capacity: paths.count)
    cells.initialize(repeating: .null)
    defer { cells.deallocate() }
    try read(0, row, values, cells) { body(UnsafeBufferPointer(cells), isTrue) }
    return true
  }

  /// Reads the value at a path and those behind it, then calls `body` while all are valid.
  private func read(
    _ index: Int, _ row: Int64, _ values: RowView, _ cells: UnsafeMutableBufferPointer<RowCell>,
    _ body: () -> Void
  ) throws(StateFault) {
    guard index < paths.count else { return body() }
    try paths[index].withCell(of: row, values) { (cell, arena) throws(StateFault) in
      cells[index] = RowCell(cell: cell, arena: arena)
      try read(index + 1, row, values, cells, body)
    }
  }
}
