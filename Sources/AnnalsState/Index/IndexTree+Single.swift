import AnnalsFormat
import AnnalsModel

// One entry at a time, for small transactions: the path to a leaf is copied and nothing else
// looked at. What would change the shape of the tree is left to `IndexMerge`.

/// Where a key belongs.
private struct IndexPath {
  var branch: Int
  var slot: Int
  var leaf: Int
}

extension IndexTree {
  /// Takes an entry out if its row is the one given. False, and nothing changed, if a leaf would be
  /// left empty.
  mutating func removeOne(
    _ key: UnsafeRawBufferPointer, row: Int64
  ) throws(StateFault) -> Bool {
    guard !branches.isEmpty else { return true }
    let (path, node) = try path(of: key)
    let entries = node.leaves[path.leaf].entries
    guard let index = entries.find(key), entries.rows[index] == row else {
      return true
    }
    guard entries.count > 1 else { return false }
    replace(node, path, with: entries.removing(index), change: -1)
    return true
  }

  /// Puts an entry in. False, and nothing changed, if the leaf is full, or if what is held of
  /// another key begins this one, so that only whole keys tell.
  mutating func insertOne(
    _ key: UnsafeRawBufferPointer, row: Int64
  ) throws(StateFault) -> Bool {
    guard !branches.isEmpty else { return false }
    let (path, node) = try path(of: key)
    let entries = node.leaves[path.leaf].entries
    guard entries.count < IndexLeaf.maximumCount else { return false }
    let place = entries.place(of: key)
    guard !place.isHeld else { return false }
    let index = place.index
    let kept =
      form == .whole ? key.count : min(key.count, neededLength(key, path, node, index) + 1)
    let held = UnsafeRawBufferPointer(rebasing: key[..<kept])
    replace(node, path, with: entries.inserting(held, row: row, at: index), change: 1)
    return true
  }

  /// How many bytes of a key tell it from its neighbours at a place, and from the fences.
  private func neededLength(
    _ key: UnsafeRawBufferPointer, _ path: IndexPath, _ node: IndexNode, _ index: Int
  ) -> Int {
    let entries = node.leaves[path.leaf].entries
    return entries.bytes.withUnsafeBytes { all in
      let before: Int
      if index > 0 {
        let held = UnsafeRawBufferPointer(rebasing: all[entries.range(index - 1)])
        before = sharedLength(key, held) + 1
      } else {
        let fence = lowerFence(path, node)
        let shared = zip(fence, key).prefix { $0 == $1 }.count
        before = shared == fence.count ? shared : shared + 1
      }
      if index < entries.count {
        let held = UnsafeRawBufferPointer(rebasing: all[entries.range(index)])
        return max(before, sharedLength(key, held) + 1)
      }
      guard let fence = upperFence(path, node) else { return before }
      return max(before, zip(fence, key).prefix { $0 == $1 }.count + 1)
    }
  }

  private func lowerFence(_ path: IndexPath, _ node: IndexNode) -> ArraySlice<UInt8> {
    if path.leaf > 0 { return node.fences[path.leaf] }
    if path.slot > 0 { return branches[path.branch].fences[path.slot] }
    return fences[path.branch]
  }

  private func upperFence(_ path: IndexPath, _ node: IndexNode) -> ArraySlice<UInt8>? {
    if path.leaf + 1 < node.fences.count { return node.fences[path.leaf + 1] }
    let branch = branches[path.branch]
    if path.slot + 1 < branch.fences.count { return branch.fences[path.slot + 1] }
    return path.branch + 1 < fences.count ? fences[path.branch + 1] : nil
  }

  private func path(
    of key: UnsafeRawBufferPointer
  ) throws(StateFault) -> (IndexPath, IndexNode) {
    let branch = fences.child(of: key)
    let slot = branches[branch].fences.child(of: key)
    let node = try branches[branch].slots[slot].node()
    return (IndexPath(branch: branch, slot: slot, leaf: node.fences.child(of: key)), node)
  }

  /// Puts new entries in place of a leaf's.
  private mutating func replace(
    _ node: IndexNode, _ path: IndexPath, with entries: LeafEntries, change: Int
  ) {
    var leaves = node.leaves
    leaves[path.leaf] = IndexLeaf(entries)
    let branch = branches[path.branch]
    var slots = branch.slots
    slots[path.slot] = .changed(
      IndexNode(leaves: leaves, fences: node.fences, count: node.count + change))
    branches[path.branch] = IndexBranch(
      slots: slots, fences: branch.fences, count: branch.count + change)
    count += change
  }
}
