import AnnalsFormat
import AnnalsModel

// Places in a tree are counted: 0 stands before the first entry. Whoever seeks touches one chunk.

/// Some entries of a leaf, and where they are in the tree.
struct IndexSpan: Sendable {
  let leaf: IndexLeaf
  /// How many entries stand before the leaf's first.
  let start: Int

  var end: Int { start + leaf.entries.count }

  /// The row of the entry at a place within the span.
  func row(at place: Int) -> Int64 { leaf.entries.rows[place - start] }

  /// What the leaf holds of the key of the entry at a place within the span.
  func key(at place: Int) -> ArraySlice<UInt8> {
    leaf.entries.bytes[leaf.entries.range(place - start)]
  }
}

extension IndexTree {
  /// How many entries have a key before these bytes.
  ///
  /// `wholeKey` gives the key of an entry of which the bytes held begin these bytes, in a tree that
  /// holds beginnings only.
  func count(
    before bytes: UnsafeRawBufferPointer,
    wholeKey: (Int64) throws(StateFault) -> ContiguousArray<UInt8>
  ) throws(StateFault) -> Int {
    guard !branches.isEmpty else { return 0 }
    let path = try path(of: bytes)
    var result = path.index
    for branch in branches[..<path.branch] { result += branch.count }
    let branch = branches[path.branch]
    for slot in branch.slots[..<path.slot] { result += slot.count }
    for leaf in try branch.slots[path.slot].node().leaves[..<path.leaf] {
      result += leaf.entries.count
    }
    if let row = path.holder, path.heldLength < bytes.count {
      let key = try wholeKey(row)
      let order = key.withUnsafeBytes { compare(bytes, held: $0) }
      if order == .after || order == .matches && key.count < bytes.count { result += 1 }
    }
    return result
  }

  /// The rows of the entries whose keys are not before the first bytes, and before the others if
  /// there are any. Nothing is counted: it looks at no leaf but those that have the entries.
  ///
  /// Of a tree that holds whole keys.
  func rows(
    from lower: UnsafeRawBufferPointer, before upper: UnsafeRawBufferPointer?
  ) throws(StateFault) -> [Int64] {
    var rows: [Int64] = []
    guard !branches.isEmpty else { return rows }
    var path = try path(of: lower)
    while path.branch < branches.count {
      let branch = branches[path.branch]
      while path.slot < branch.slots.count {
        let node = try branch.slots[path.slot].node()
        while path.leaf < node.leaves.count {
          guard node.leaves[path.leaf].appendRows(from: path.index, before: upper, to: &rows)
          else { return rows }
          (path.leaf, path.index) = (path.leaf + 1, 0)
        }
        (path.slot, path.leaf) = (path.slot + 1, 0)
      }
      (path.branch, path.slot) = (path.branch + 1, 0)
    }
    return rows
  }

  /// How many entries have keys not before the first bytes, and before the others, if they are in
  /// one leaf; otherwise nil.
  ///
  /// Of a tree that holds whole keys.
  func countWithinLeaf(
    from lower: UnsafeRawBufferPointer, before upper: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int? {
    guard !branches.isEmpty else { return 0 }
    let path = try path(of: lower)
    let leaf = try branches[path.branch].slots[path.slot].node().leaves[path.leaf]
    let end = leaf.entries.place(of: upper).index
    return end < path.leafCount ? end - path.index : nil
  }

  /// Calls `body` with the leaves that have entries at these places, in order.
  func forEachLeaf(
    in places: Range<Int>, _ body: (IndexSpan) throws(StateFault) -> Void
  ) throws(StateFault) {
    var start = 0
    for branch in branches where start < places.upperBound {
      guard start + branch.count > places.lowerBound else {
        start += branch.count
        continue
      }
      for slot in branch.slots where start < places.upperBound {
        guard start + slot.count > places.lowerBound else {
          start += slot.count
          continue
        }
        for leaf in try slot.node().leaves where start < places.upperBound {
          let span = IndexSpan(leaf: leaf, start: start)
          if span.end > places.lowerBound { try body(span) }
          start = span.end
        }
      }
    }
  }

  /// The leaf that has the entry at this place; nil if there is none.
  func span(at place: Int) throws(StateFault) -> IndexSpan? {
    var result: IndexSpan?
    try forEachLeaf(in: place..<place + 1) { result = $0 }
    return result
  }
}
