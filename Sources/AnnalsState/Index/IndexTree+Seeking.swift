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
    let number = fences.child(of: bytes)
    var result = 0
    for branch in branches[..<number] { result += branch.count }
    let branch = branches[number]
    let slot = branch.fences.child(of: bytes)
    for other in branch.slots[..<slot] { result += other.count }
    let node = try branch.slots[slot].node()
    let place = node.fences.child(of: bytes)
    for other in node.leaves[..<place] { result += other.entries.count }
    let leaf = node.leaves[place]
    let found = leaf.entries.place(of: bytes)
    result += found.index
    if found.isHeld, leaf.entries.range(found.index).count < bytes.count {
      let key = try wholeKey(leaf.entries.rows[found.index])
      let order = key.withUnsafeBytes { compare(bytes, held: $0) }
      if order == .after || order == .matches && key.count < bytes.count { result += 1 }
    }
    return result
  }

  /// The leaves that have entries at these places, with the place of the first entry of each.
  func leaves(
    in places: Range<Int>
  ) throws(StateFault) -> ContiguousArray<(leaf: IndexLeaf, start: Int)> {
    var result: ContiguousArray<(leaf: IndexLeaf, start: Int)> = []
    var start = 0
    for branch in branches {
      if start >= places.upperBound { break }
      guard start + branch.count > places.lowerBound else {
        start += branch.count
        continue
      }
      for slot in branch.slots where start < places.upperBound {
        guard start + slot.count > places.lowerBound else {
          start += slot.count
          continue
        }
        for leaf in try slot.node().leaves {
          if start < places.upperBound, start + leaf.entries.count > places.lowerBound {
            result.append((leaf, start))
          }
          start += leaf.entries.count
        }
      }
    }
    return result
  }

  /// The leaf that has the entry at this place; nil if there is none.
  func span(at place: Int) throws(StateFault) -> IndexSpan? {
    guard place >= 0, place < count else { return nil }
    var start = 0
    for branch in branches {
      guard place >= start + branch.count else {
        return try span(at: place, in: branch, from: start)
      }
      start += branch.count
    }
    return nil
  }

  private func span(
    at place: Int, in branch: IndexBranch, from first: Int
  ) throws(StateFault) -> IndexSpan? {
    var start = first
    for slot in branch.slots {
      guard place >= start + slot.count else {
        for leaf in try slot.node().leaves {
          guard place >= start + leaf.entries.count else {
            return IndexSpan(leaf: leaf, start: start)
          }
          start += leaf.entries.count
        }
        return nil
      }
      start += slot.count
    }
    return nil
  }
}
