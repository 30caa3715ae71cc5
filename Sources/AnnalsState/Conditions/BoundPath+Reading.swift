import AnnalsModel

extension BoundPath {
  /// Calls `body` with the value for a row and the bytes that it points into, valid within the call
  /// only. `view` is that of the row.
  package func read(
    _ row: Int64, _ view: RowView,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> Void
  ) throws(StateFault) {
    try withCell(of: row, view, body)
  }
}
