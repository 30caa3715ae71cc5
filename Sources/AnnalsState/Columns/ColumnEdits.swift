import AnnalsModel

/// Values to be put into the leaves of a column once somebody reads them.
struct ColumnEdits: Sendable {
  private var edits: ContiguousArray<Edit> = []
  /// The bytes of the values.
  private var arena: ContiguousArray<UInt8> = []

  /// A value for a row.
  struct Edit {
    /// The row's place in its group.
    var offset: UInt16
    /// The value; an absence for none.
    var cell: ValueCell

    /// The row's place in its leaf.
    var slot: Int { Int(offset) & 255 }
  }

  /// How many edits there is room for at first.
  private static let firstRoom = 32

  /// How many there are, the overtaken ones among them.
  var count: Int { edits.count }

  /// Adds one, which overtakes earlier ones of the same row.
  mutating func append(_ offset: Int, _ cell: ValueCell, in source: UnsafeRawBufferPointer) {
    if edits.isEmpty { edits.reserveCapacity(ColumnEdits.firstRoom) }
    if arena.isEmpty, cell.usesArena { arena.reserveCapacity(16 * ColumnEdits.firstRoom) }
    let cell = cell.copied(from: source, to: &arena)
    edits.append(Edit(offset: UInt16(truncatingIfNeeded: offset), cell: cell))
  }

  /// Puts the values into some of sixteen leaves, in place of which others come. False if a leaf
  /// would hold more bytes than it can count.
  func apply(to leaves: inout ContiguousArray<Leaf?>, within range: Range<Int>) -> Bool {
    let last = lastOfEachRow(within: range)
    return arena.withUnsafeBytes { arena in
      var start = 0
      while start < last.count {
        let leaf = Int(last[start].offset) >> 8
        var end = start + 1
        while end < last.count, Int(last[end].offset) >> 8 == leaf { end += 1 }
        guard Leaf.merge(last[start..<end], in: arena, into: &leaves[leaf]) else { return false }
        start = end
      }
      return true
    }
  }

  /// The edits of these leaves that none overtakes, by rising row.
  private func lastOfEachRow(within leaves: Range<Int>) -> ContiguousArray<Edit> {
    // The row above, the order of coming below: both are less than 2^16.
    var order: ContiguousArray<UInt32> = []
    if leaves.count == RowPosition.leafCount { order.reserveCapacity(edits.count) }
    for (index, edit) in edits.enumerated() where leaves.contains(Int(edit.offset) >> 8) {
      order.append(UInt32(edit.offset) << 16 | UInt32(truncatingIfNeeded: index))
    }
    order.sort()
    var result: ContiguousArray<Edit> = []
    result.reserveCapacity(order.count)
    for (index, key) in order.enumerated() {
      let isLast = index + 1 == order.count || order[index + 1] >> 16 != key >> 16
      if isLast { result.append(edits[Int(key & 0xFFFF)]) }
    }
    return result
  }
}
