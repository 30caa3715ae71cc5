import AnnalsModel

/// Reads the values of some rows at a time, which may lie anywhere.
///
/// Where each row is and what its columns hold is found for all rows before any value is looked at,
/// column by column: so the processor waits for many cache lines at once, and not for one after the
/// other. Keeps the table, which is never changed while it is shared, and so all that cells point
/// to: no group or leaf is retained.
@usableFromInline
package struct RowReader {
  private let table: Table?
  /// The values of some rows, one row after the other.
  @usableFromInline private(set) var cells: ContiguousArray<DirectCell> = []
  /// Those rows.
  private var views: ContiguousArray<RowView> = []
  /// The block of the row found last; -1 for none.
  private var block: Int64 = -1
  private var view = RowView.empty
  /// Groups found so far, each at the remainder of its index; empty until some were.
  private var groups: ContiguousArray<(index: Int, group: Unmanaged<RowGroup>)> = []
  private var searches = 0
  /// Keeps reads ahead of their use from being left out.
  private var sum: UInt8 = 0

  private static let groupSlots = 64
  /// After how many searches the groups found are kept.
  private static let fewSearches = 8

  /// A reader of no row at all without a table.
  package init(_ table: TableView?) {
    self.table = table?.table
  }

  /// A value that was read.
  @inlinable @inline(__always)
  package func cell(_ index: Int) -> DirectCell { cells[index] }

  /// Reads the wanted columns of some rows, one row after the other. All values of a row that never
  /// was are null.
  package mutating func read(
    _ rows: UnsafeBufferPointer<Int64>, _ columns: ContiguousArray<WantedColumn>
  ) throws(StateFault) {
    let count = rows.count * columns.count
    if cells.count < count { cells = ContiguousArray(repeating: .null, count: count) }
    var views: ContiguousArray<RowView> = []
    swap(&views, &self.views)
    defer { swap(&views, &self.views) }
    if views.count < rows.count { views = ContiguousArray(repeating: .empty, count: rows.count) }
    for (index, row) in rows.enumerated() { views[index] = find(row) }
    sum &+= try cells.withUnsafeMutableBufferPointer { (cells) throws(StateFault) -> UInt8 in
      try views.withUnsafeBufferPointer { (views) throws(StateFault) -> UInt8 in
        guard let first = cells.baseAddress, let view = views.baseAddress else { return 0 }
        var sum: UInt8 = 0
        for (index, column) in columns.enumerated() {
          sum &+= try RowReader.read(
            column, of: view, count: rows.count, into: first + index, stride: columns.count)
        }
        return sum
      }
    }
  }

  /// Reads a column of some rows. Returns a sum of first bytes: reading them now brings them into
  /// the cache.
  private static func read(
    _ column: WantedColumn, of rows: UnsafePointer<RowView>, count: Int,
    into cells: UnsafeMutablePointer<DirectCell>, stride: Int
  ) throws(StateFault) -> UInt8 {
    var cell = cells
    var sum: UInt8 = 0
    guard let position = column.position else {
      for _ in 0..<count {
        cell.pointee = .notPlain
        cell += stride
      }
      return 0
    }
    let null: DirectCell = column.hasDefault ? .notPlain : .null
    var row = rows
    for _ in 0..<count {
      if let leaf = try row.pointee.unretainedLeaf(position) {
        let slot = row.pointee.slot
        cell.pointee = leaf._withUnsafeGuaranteedRef { $0.directCell(slot, null: null, &sum) }
      } else {
        cell.pointee = null
      }
      cell += stride
      row += 1
    }
    return sum
  }

  @inline(__always)
  private mutating func find(_ row: Int64) -> RowView {
    let index = row &- 1
    if index >> 8 != block {
      block = index >> 8
      view = findBlock(of: row)
    }
    view.slot = Int(truncatingIfNeeded: index & 255)
    return view
  }

  private mutating func findBlock(of row: Int64) -> RowView {
    guard row >= 1, row <= RowPosition.maximumRow, let group = group(RowPosition(row).group)
    else { return .empty }
    let leaf = RowPosition(row).leaf
    return group._withUnsafeGuaranteedRef { group in
      group.withBlock(leaf) { RowView(leaves: $0, stored: $1, leaf: leaf, slot: 0) }
    }
  }

  private mutating func group(_ index: Int) -> Unmanaged<RowGroup>? {
    let slot = index & (RowReader.groupSlots - 1)
    if !groups.isEmpty, groups[slot].index == index { return groups[slot].group }
    guard let found = table?.groups.group(index) else { return nil }
    let group = Unmanaged.passUnretained(found)
    searches &+= 1
    if groups.isEmpty, searches > RowReader.fewSearches {
      groups = ContiguousArray(repeating: (index, group), count: RowReader.groupSlots)
    } else if !groups.isEmpty {
      groups[slot] = (index, group)
    }
    return group
  }
}
