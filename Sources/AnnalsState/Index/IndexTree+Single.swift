import AnnalsFormat
import AnnalsModel

// One entry at a time, for small transactions: nothing but the path to a leaf is looked at, and
// what is shared of it copied. What would change the shape of the tree is left to `IndexMerge`.

extension IndexTree {
  /// Removes an entry if its row is the one given. False, and nothing changed, if a leaf would be
  /// left empty.
  mutating func removeOne(
    _ key: UnsafeRawBufferPointer, row: Int64
  ) throws(StateFault) -> Bool {
    guard !branches.isEmpty else { return true }
    let path = try path(of: key)
    guard path.holder == row else { return true }
    guard path.leafCount > 1 else { return false }
    try writableLeaf(path, change: -1).entries.remove(path.index)
    return true
  }

  /// Inserts an entry. False, and nothing changed, if the leaf is full, or if what is held of
  /// another key begins this one, so that only whole keys tell.
  mutating func insertOne(
    _ key: UnsafeRawBufferPointer, row: Int64
  ) throws(StateFault) -> Bool {
    guard !branches.isEmpty else { return false }
    let path = try path(of: key)
    guard path.leafCount < IndexLeaf.maximumCount, path.holder == nil else { return false }
    let kept = form == .whole ? key.count : min(key.count, try neededLength(key, at: path) + 1)
    let held = UnsafeRawBufferPointer(rebasing: key[..<kept])
    try writableLeaf(path, change: 1).entries.insert(held, row: row, at: path.index)
    return true
  }

  /// How many bytes of a key tell it from its neighbours at a place, and from the fences.
  private func neededLength(
    _ key: UnsafeRawBufferPointer, at path: IndexPath
  ) throws(StateFault) -> Int {
    let node = try branches[path.branch].slots[path.slot].node()
    let entries = node.leaves[path.leaf].entries
    let index = path.index
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

  /// Where a key belongs. Touches one chunk.
  func path(of key: UnsafeRawBufferPointer) throws(StateFault) -> IndexPath {
    var path = IndexPath()
    path.branch = fences.child(of: key)
    try branches[path.branch].seek(key, &path)
    return path
  }

  /// The leaf at the end of a path for writing; it is about to have so many entries more.
  private mutating func writableLeaf(
    _ path: IndexPath, change: Int
  ) throws(StateFault) -> IndexLeaf {
    if !isKnownUniquelyReferenced(&branches[path.branch]) {
      branches[path.branch] = IndexBranch(copying: branches[path.branch])
    }
    let node = try branches[path.branch].writableNode(path.slot, change: change)
    count += change
    return node.writableLeaf(path.leaf, change: change)
  }
}
