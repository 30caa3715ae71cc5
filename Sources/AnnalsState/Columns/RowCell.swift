import AnnalsModel

/// A cell with its arena; valid as long as its block.
@frozen
package struct RowCell {
  package var cell: ValueCell
  package var arena: UnsafeRawBufferPointer

  init(cell: ValueCell, arena: UnsafeRawBufferPointer) {
    self.cell = cell
    self.arena = arena
  }

  static var null: RowCell {
    RowCell(cell: .null, arena: UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
