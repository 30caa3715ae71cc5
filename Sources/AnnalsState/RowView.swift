import AnnalsModel

// Reading many values of one object: the group and the leaves' place in it are found once, and
// nothing is retained for each value. The pointers within are valid while `withRow` runs: the table
// that it is called on keeps the group, a group that is shared is never changed, and it keeps its
// leaves.

extension TableView {
  /// Calls `body` with the values of one row, valid within the call only; all null for a row that
  /// never was.
  package func withRow<T, E: Error>(
    _ row: Int64, _ body: (RowView) throws(E) -> T
  ) throws(E) -> T {
    guard row >= 1, row <= RowPosition.maximumRow else { return try body(.empty) }
    let place = RowPosition(row)
    guard let group = table.groups.group(place.group) else { return try body(.empty) }
    return try group.slots.withUnsafeBufferPointer { (slots) throws(E) -> T in
      try body(RowView(slots: slots, leaf: place.leaf, slot: place.slot))
    }
  }
}

/// The values of one object, for the time of `TableView.withRow`.
package struct RowView {
  let slots: UnsafeBufferPointer<ColumnSlot>
  let leaf: Int
  let slot: Int

  /// No value at all.
  package static var empty: RowView {
    RowView(slots: UnsafeBufferPointer(start: nil, count: 0), leaf: 0, slot: 0)
  }

  /// The value in the column at this position, null where there is none, with the bytes that it
  /// points into.
  package func cell(_ column: Int) throws(StateFault) -> RowCell {
    guard column < slots.count else { return .null }
    guard !slots[column].leaves.isEmpty else { return try storedCell(column) }
    // The group keeps the leaf: retaining it for each value would cost as much as reading it.
    let leaf = slots[column].leaves.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: self.leaf * MemoryLayout<Leaf?>.stride, as: LeafBits.self)
    }
    guard let leaf else { return .null }
    return leaf._withUnsafeGuaranteedRef { RowCell(cell: $0.cell(slot), arena: $0.arenaBytes) }
  }

  private typealias LeafBits = Unmanaged<Leaf>?

  /// The value in a column as a checkpoint holds it.
  private func storedCell(_ column: Int) throws(StateFault) -> RowCell {
    guard let leaf = try slots[column].leaf(self.leaf) else { return .null }
    return RowCell(cell: leaf.cell(slot), arena: leaf.arenaBytes)
  }
}

/// A cell with its arena, for the time of `TableView.withRow`.
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
