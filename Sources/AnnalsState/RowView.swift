import AnnalsModel

// Reading many values of one object: the group and the leaves' place in it are found once, and
// nothing is retained for each value. The pointers within are valid while the group is kept, by a
// `RowBlock` or the table that `withRow` is called on: a group that is shared is never changed, and
// it keeps its leaves.

extension TableView {
  /// The block of 256 rows that a row is in.
  package func block(of row: Int64) -> RowBlock { RowBlock(row, in: table) }
}

/// A block of 256 rows, kept alive to read one row after the other.
package struct RowBlock {
  /// Which block it is; -1 for none.
  @usableFromInline let number: Int64
  /// Keeps what the pointers lead to: a group that is shared is never changed.
  private let group: RowGroup?
  /// The values of the row that the block was made for.
  private let made: RowView

  /// No block.
  package static var none: RowBlock { RowBlock() }

  private init() { (number, group, made) = (-1, nil, .empty) }

  fileprivate init(_ row: Int64, in table: Table) {
    number = (row &- 1) >> 8
    guard row >= 1, row <= RowPosition.maximumRow else {
      (group, made) = (nil, .empty)
      return
    }
    let place = RowPosition(row)
    let found = table.groups.group(place.group)
    group = found
    made = RowGroup.withRow(found, place) { $0 }
  }

  /// Whether the row is in the block.
  @inlinable @inline(__always)
  package func contains(_ row: Int64) -> Bool { (row &- 1) >> 8 == number }

  /// Whether a row of the block lives.
  package func isLive(_ row: Int64) throws(StateFault) -> Bool {
    guard contains(row), let group else { return false }
    return try group.isLive(RowPosition(row).offset)
  }

  /// The values of a row, if it is in the block; all null for a row that never was. Valid as long
  /// as the block.
  package func view(of row: Int64) -> RowView? {
    guard contains(row) else { return nil }
    var view = made
    view.slot = Int((row &- 1) & 255)
    return view
  }

  /// The values of a row, as `view(of:)`; the block becomes that of the row, if it is another.
  package mutating func values(of row: Int64, in table: TableView) -> RowView {
    if !contains(row) { self = table.block(of: row) }
    return view(of: row) ?? .empty
  }
}

extension RowGroup {
  /// Calls `body` with the values of one row of a group, which may be missing.
  @inline(__always)
  static func withRow<T, E: Error>(
    _ group: RowGroup?, _ place: RowPosition, _ body: (RowView) throws(E) -> T
  ) throws(E) -> T {
    guard let group else { return try body(.empty) }
    return try group.withBlock(place.leaf) { (leaves, stored) throws(E) -> T in
      try body(RowView(leaves: leaves, stored: stored, leaf: place.leaf, slot: place.slot))
    }
  }
}

/// The values of one object; valid as long as its block.
package struct RowView {
  /// The block's leaves, and what a checkpoint holds of the group, by column position.
  let leaves: UnsafeBufferPointer<Leaf?>
  let stored: UnsafeBufferPointer<StoredColumn?>
  let leaf: Int
  var slot: Int

  /// No value at all.
  package static var empty: RowView {
    RowView(
      leaves: UnsafeBufferPointer(start: nil, count: 0),
      stored: UnsafeBufferPointer(start: nil, count: 0), leaf: 0, slot: 0)
  }

  /// The value in the column at this position, null where there is none, with the bytes that it
  /// points into.
  package func cell(_ column: Int) throws(StateFault) -> RowCell {
    cell(in: try unretainedLeaf(column))
  }

  /// The value of this row in a leaf that `unretainedLeaf` returned.
  @inline(__always)
  func cell(in leaf: Unmanaged<Leaf>?) -> RowCell {
    guard let leaf else { return .null }
    return leaf._withUnsafeGuaranteedRef { RowCell(cell: $0.cell(slot), arena: $0.arenaBytes) }
  }

  /// The leaf of the column at this position; nil where no row of it has a value.
  @inline(__always)
  func unretainedLeaf(_ column: Int) throws(StateFault) -> Unmanaged<Leaf>? {
    // The group keeps the leaf: retaining it for each value would cost as much as reading it.
    if let leaf = writtenLeaf(column) { return leaf }
    guard let part = storedColumn(column) else { return nil }
    let loaded = part._withUnsafeGuaranteedRef { $0.unretainedLeaf(self.leaf) }
    return try loaded.isLoaded ? loaded.leaf : firstTouch(part)
  }

  /// The leaf that was written since the checkpoint; nil if none was.
  @inline(__always)
  func writtenLeaf(_ column: Int) -> Unmanaged<Leaf>? {
    column < leaves.count ? RowView.unretained(leaves, column) : nil
  }

  /// What a checkpoint holds of the column at this position; nil if nothing.
  @inline(__always)
  func storedColumn(_ column: Int) -> Unmanaged<StoredColumn>? {
    column < stored.count ? RowView.unretained(stored, column) : nil
  }

  /// Whether the column at this position has the same leaf as another row's at another, and so the
  /// same values, since leaves are copied when written. For rows at the same place of two groups;
  /// what a checkpoint holds of both is not read.
  @inline(__always)
  func shares(_ column: Int, with other: RowView, _ place: Int) -> Bool {
    let leaf = writtenLeaf(column)
    guard leaf?.toOpaque() == other.writtenLeaf(place)?.toOpaque() else { return false }
    return leaf != nil
      || storedColumn(column)?.toOpaque() == other.storedColumn(place)?.toOpaque()
  }

  /// The leaf of a column that nobody has read so far.
  @inline(never)
  private func firstTouch(_ part: Unmanaged<StoredColumn>) throws(StateFault) -> Unmanaged<Leaf>? {
    // The column keeps what it reads.
    try part.takeUnretainedValue().leaf(leaf).map { Unmanaged.passUnretained($0) }
  }

  @inline(__always)
  private static func unretained<Object: AnyObject>(
    _ objects: UnsafeBufferPointer<Object?>, _ index: Int
  ) -> Unmanaged<Object>? {
    // Without the checks of a buffer's arithmetic, which took a third of reading a cell.
    guard let first = objects.baseAddress else { return nil }
    return UnsafeRawPointer(first).load(
      fromByteOffset: index &* MemoryLayout<Object?>.stride, as: Unmanaged<Object>?.self)
  }
}
