import AnnalsFormat
import AnnalsModel

// Rows are kept in groups of 4,096, the unit of checkpoints: the bits of live rows, and sixteen
// blocks of 256 rows, each with a leaf for every column. So the columns of an entity share one
// tree, and writing an object copies one path, however many of its properties change.
//
// Invariants:
// - A column of a group may be stored: a checkpoint's chunks, perhaps with edits, each read when
//   first touched. A leaf in the blocks, which it gets when it is written, stands in front of the
//   stored one; so where the column is stored, a leaf that loses all values stays, empty.
// - A group without a live row has no values.

/// The place of a row: its group, the leaf in the group, the slot in the leaf.
struct RowPosition {
  /// How many rows a group spans.
  static let groupRows: Int64 = 4096
  /// How many leaves a column has in a group.
  static let leafCount = 16
  /// The greatest row that an entity may have.
  static let maximumRow: Int64 = 1 << 40

  var group: Int
  /// The row's place in its group, from 0.
  var offset: Int

  /// The place of a row from 1 to `maximumRow`.
  @inline(__always)
  init(_ row: Int64) {
    let index = Int(row - 1)
    group = index >> 12
    offset = index & 4095
  }

  @inline(__always) var leaf: Int { offset >> 8 }
  @inline(__always) var slot: Int { offset & 255 }

  /// The first row of a group.
  static func firstRow(ofGroup group: Int) -> Int64 { Int64(group) * groupRows + 1 }
}

/// The values of up to 4,096 consecutive rows.
///
/// Read from any thread; written only by the holder of the one reference.
final class RowGroup: @unchecked Sendable {
  // Exclusive access follows from the rule above; see `Table`.
  /// A bit for each row that lives: 64 words, or none if no row does or the bits are stored.
  @exclusivity(unchecked) private var live: ContiguousArray<UInt64> = []
  /// What a checkpoint holds of the bits; then `live` is empty.
  @exclusivity(unchecked) private(set) var storedLive: StoredRows?
  /// How many rows live.
  @exclusivity(unchecked) private(set) var liveCount = 0
  /// The leaves of each block by column position, nil where no row has a value or the stored column
  /// has the leaf; columns beyond have none. Sixteen blocks, or none.
  @exclusivity(unchecked) var blocks: ContiguousArray<ContiguousArray<Leaf?>> = []
  /// What is read when first touched, by column position; columns beyond are in the blocks alone.
  @exclusivity(unchecked) private var stored: ContiguousArray<StoredColumn?> = []

  init() {}

  init(copying other: RowGroup) {
    live = other.live
    storedLive = other.storedLive
    liveCount = other.liveCount
    blocks = other.blocks
    stored = other.stored
  }

  /// The bits of the rows that live: 64 words, or none.
  @inline(__always)
  func liveWords() throws(StateFault) -> ContiguousArray<UInt64> {
    if let storedLive { return try storedLive.words() }
    return live
  }

  /// Whether the row at this offset lives.
  @inline(__always)
  func isLive(_ offset: Int) throws(StateFault) -> Bool {
    if liveCount == 0 { return false }
    if !live.isEmpty { return live[offset >> 6] & (1 << UInt64(offset & 63)) != 0 }
    return try liveWords()[offset >> 6] & (1 << UInt64(offset & 63)) != 0
  }

  /// Makes a row live that does not.
  func markLive(_ offset: Int) throws(StateFault) {
    if live.isEmpty {
      live = try liveWords()
      storedLive = nil
      if live.isEmpty { live = ContiguousArray(repeating: 0, count: 64) }
    }
    live[offset >> 6] |= 1 << UInt64(offset & 63)
    liveCount += 1
  }

  /// Ends the life of a row that lives.
  func markDead(_ offset: Int) throws(StateFault) {
    if live.isEmpty {
      live = try liveWords()
      storedLive = nil
    }
    live[offset >> 6] &= ~(1 << UInt64(offset & 63))
    liveCount -= 1
    if liveCount == 0 { live = [] }
  }

  /// Takes over what a checkpoint holds of the bits.
  func setStored(_ rows: StoredRows) {
    storedLive = rows
    liveCount = Int(rows.reference.count)
    live = []
  }

}

// The columns.
extension RowGroup {
  /// What is read of a column when first touched: what a checkpoint holds, perhaps with edits.
  @inline(__always)
  func storedColumn(_ column: Int) -> StoredColumn? {
    column < stored.count ? stored[column] : nil
  }

  /// The leaf of a column, if it has any value.
  @inline(__always)
  func leaf(_ leaf: Int, column: Int) throws(StateFault) -> Leaf? {
    if leaf < blocks.count, column < blocks[leaf].count, let written = blocks[leaf][column] {
      return written
    }
    return column < stored.count ? try stored[column]?.leaf(leaf) : nil
  }

  /// Whether a leaf of a column was written since the checkpoint: it is in the blocks.
  @inline(__always)
  func isWritten(_ leaf: Int, column: Int) -> Bool {
    leaf < blocks.count && column < blocks[leaf].count && blocks[leaf][column] != nil
  }

  /// Calls `body` with the leaves of a block and with what a checkpoint holds, by column position.
  @inline(__always)
  func withBlock<T, E: Error>(
    _ leaf: Int,
    _ body: (UnsafeBufferPointer<Leaf?>, UnsafeBufferPointer<StoredColumn?>) throws(E) -> T
  ) throws(E) -> T {
    try stored.withUnsafeBufferPointer { (stored) throws(E) -> T in
      guard leaf < blocks.count else {
        return try body(UnsafeBufferPointer(start: nil, count: 0), stored)
      }
      return try blocks[leaf].withUnsafeBufferPointer { (leaves) throws(E) -> T in
        try body(leaves, stored)
      }
    }
  }

  /// All sixteen leaves of a column.
  func leaves(column: Int) throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves: ContiguousArray<Leaf?> = []
    leaves.reserveCapacity(RowPosition.leafCount)
    for index in 0..<RowPosition.leafCount { leaves.append(try leaf(index, column: column)) }
    return leaves
  }

  /// Whether a column has a leaf in the blocks, or edits: what no checkpoint holds.
  func isChanged(column: Int) -> Bool {
    storedColumn(column)?.origin != nil
      || blocks.contains { column < $0.count && $0[column] != nil }
  }

  /// Whether a checkpoint would write anything of it.
  var hasUnsaved: Bool {
    storedLive == nil || stored.contains { $0?.origin != nil }
      || blocks.contains { $0.contains { $0 != nil } }
  }

  /// Puts a value, which its column admits, into a row of a stored column without reading that.
  /// False, and nothing done, if the row's leaf is in the blocks or should be.
  func edit(
    _ offset: Int, column: Int, to cell: ValueCell, in arena: UnsafeRawBufferPointer
  ) -> Bool {
    guard column < stored.count, var part = stored[column],
      !isWritten(offset >> 8, column: column)
    else { return false }
    // In one hand, if nobody else has it.
    stored[column] = nil
    defer { stored[column] = part }
    return StoredColumn.edit(&part, offset, to: cell, in: arena)
  }

  /// Makes `blocks[leaf][column]` a place to write to; reads the leaf if it is stored. `width` is
  /// how many columns there are.
  @inline(__always)
  func prepareToWrite(leaf: Int, column: Int, width: Int) throws(StateFault) {
    if blocks.isEmpty { blocks = ContiguousArray(repeating: [], count: RowPosition.leafCount) }
    if column >= blocks[leaf].count { widen(leaf, to: width) }
    if column < stored.count, let part = stored[column], blocks[leaf][column] == nil {
      try moveIntoBlocks(leaf, column: column, of: part)
    }
  }

  /// Puts a stored leaf into the blocks; forgets the stored column with its last leaf.
  private func moveIntoBlocks(_ leaf: Int, column: Int, of part: StoredColumn) throws(StateFault) {
    blocks[leaf][column] = try part.leaf(leaf)
    let isLast = (0..<RowPosition.leafCount).allSatisfy { index in
      let known = part.unretainedLeaf(index)
      return isWritten(index, column: column) || known.isLoaded && known.leaf == nil
    }
    guard isLast else { return }
    stored[column] = nil
    for index in blocks.indices where column < blocks[index].count {
      if blocks[index][column]?.isEmpty == true { blocks[index][column] = nil }
    }
  }

  /// Takes a row's value away. A leaf left without any goes, unless a stored one would come forth.
  @inline(__always)
  func clear(leaf: Int, column: Int, slot: Int) {
    Leaf.clear(&blocks[leaf][column], slot: slot, keepsLeaf: storedColumn(column) != nil)
  }

  /// The leaves of a block for writing, `width` of them, by column position; nil if one of them is
  /// stored alone. Valid until the group is changed in another way.
  @inline(__always)
  func writableLeaves(_ leaf: Int, width: Int) -> UnsafeMutablePointer<Leaf?>? {
    for column in stored.indices {
      guard let part = stored[column], !isWritten(leaf, column: column) else { continue }
      let known = part.unretainedLeaf(leaf)
      guard known.isLoaded, known.leaf == nil else { return nil }
    }
    if blocks.isEmpty { blocks = ContiguousArray(repeating: [], count: RowPosition.leafCount) }
    if blocks[leaf].count < width { widen(leaf, to: width) }
    return blocks[leaf].withUnsafeMutableBufferPointer { $0.baseAddress }
  }

  private func widen(_ leaf: Int, to width: Int) {
    blocks[leaf].append(contentsOf: repeatElement(nil, count: width - blocks[leaf].count))
  }

  /// Takes over what a checkpoint holds of a column, in place of what is in the blocks.
  func setStored(_ part: StoredColumn?, column: Int) {
    for leaf in blocks.indices where column < blocks[leaf].count && blocks[leaf][column] != nil {
      blocks[leaf][column] = nil
    }
    if column >= stored.count {
      if part == nil { return }
      stored.append(contentsOf: repeatElement(nil, count: column + 1 - stored.count))
    }
    stored[column] = part
  }
}

// Passing through.
extension RowGroup {
  /// Copies of two groups, of which what nobody has read so far is read into the copies alone, and
  /// goes with them. What the two have in common the copies have, too.
  static func passing(_ first: RowGroup?, _ second: RowGroup?) -> (RowGroup?, RowGroup?) {
    let copy = first?.passing(beside: nil, nil)
    guard second !== first else { return (copy, copy) }
    return (copy, second?.passing(beside: first, copy))
  }

  private func passing(beside other: RowGroup?, _ copied: RowGroup?) -> RowGroup {
    let copy = RowGroup(copying: self)
    for column in stored.indices {
      guard let part = stored[column] else { continue }
      copy.stored[column] = part.unread(
        beside: other?.storedColumn(column), copied?.storedColumn(column))
    }
    return copy
  }
}
