import AnnalsFormat
import AnnalsModel

/// An entry that could not be put into an index, since its key is taken.
struct KeyConflict: Hashable, Sendable {
  /// The row whose key is taken.
  var row: Int64
  /// The row that has the key; 0 if the row's value is too large to be a key.
  var holder: Int64
}

/// Entries to take out and put in, each in the order of their keys, and where to read whole keys.
///
/// Works through the tree from left to right, remaking the leaves that change and what is above.
struct IndexMerge {
  let removals: IndexEntries
  let insertions: IndexEntries
  /// The whole key of a row, for entries that an insertion cannot be told from by what is held.
  let wholeKey: (Int64) throws(StateFault) -> ContiguousArray<UInt8>
  private(set) var conflicts: [KeyConflict] = []

  private var form = IndexForm.whole
  private var removal = 0
  private var insertion = 0

  init(
    removals: IndexEntries, insertions: IndexEntries,
    wholeKey: @escaping (Int64) throws(StateFault) -> ContiguousArray<UInt8>
  ) {
    self.removals = removals
    self.insertions = insertions
    self.wholeKey = wholeKey
  }

  /// Applies everything to a tree.
  mutating func apply(to tree: inout IndexTree) throws(StateFault) {
    form = tree.form
    var branches = GroupBuilder<IndexBranch>()
    if tree.branches.isEmpty {
      var leaves = GroupBuilder<IndexLeaf>()
      if form == .whole, !insertions.hasEqualNeighbours {
        leaves.append(insertions)
      } else {
        try merge(IndexLeaf(IndexEntries()), lower: [], upper: nil, into: &leaves)
      }
      var slots = GroupBuilder<IndexSlot>()
      IndexMerge.group(leaves, into: &slots)
      IndexMerge.group(slots, into: &branches)
    }
    for (index, branch) in tree.branches.enumerated() {
      let fence = tree.fences[index]
      let upper = index + 1 < tree.branches.count ? tree.fences[index + 1] : nil
      if hasWork(below: upper) {
        try merge(branch, lower: fence, upper: upper, into: &branches)
      } else {
        branches.append(branch, fence: fence)
      }
    }
    let isSaved = tree.isSaved
    tree = IndexTree(form: form)
    tree.isSaved = isSaved
    branches.forEachGroup(maximum: .max, target: 1) { all, fences, _ in
      tree.branches = all
      tree.fences = fences
      tree.count = all.reduce(0) { $0 + $1.count }
    }
  }

  private mutating func merge(
    _ branch: IndexBranch, lower: ArraySlice<UInt8>, upper: ArraySlice<UInt8>?,
    into branches: inout GroupBuilder<IndexBranch>
  ) throws(StateFault) {
    var slots = GroupBuilder<IndexSlot>()
    for (index, slot) in branch.slots.enumerated() {
      let fence = index == 0 ? lower : branch.fences[index]
      let end = index + 1 < branch.slots.count ? branch.fences[index + 1] : upper
      guard hasWork(below: end) else {
        slots.append(slot, fence: fence)
        continue
      }
      let node = try slot.node()
      var leaves = GroupBuilder<IndexLeaf>()
      for (place, leaf) in node.leaves.enumerated() {
        let before = place == 0 ? fence : node.fences[place]
        let after = place + 1 < node.leaves.count ? node.fences[place + 1] : end
        if hasWork(below: after) {
          try merge(leaf, lower: before, upper: after, into: &leaves)
        } else {
          leaves.append(leaf, fence: before)
        }
      }
      IndexMerge.group(leaves, into: &slots)
    }
    IndexMerge.group(slots, into: &branches)
  }

  private static func group(
    _ leaves: GroupBuilder<IndexLeaf>, into slots: inout GroupBuilder<IndexSlot>
  ) {
    leaves.forEachGroup(maximum: IndexNode.maximumCount, target: IndexNode.targetCount) {
      leaves, inner, first in
      slots.append(IndexSlot(IndexNode(leaves: leaves, fences: inner)), fence: first)
    }
  }

  private static func group(
    _ slots: GroupBuilder<IndexSlot>, into branches: inout GroupBuilder<IndexBranch>
  ) {
    slots.forEachGroup(maximum: IndexBranch.maximumCount, target: IndexBranch.targetCount) {
      slots, inner, first in
      branches.append(IndexBranch(slots: slots, fences: inner), fence: first)
    }
  }

  /// Whether the next removal or insertion is below the fence; nil is above everything.
  private func hasWork(below fence: ArraySlice<UInt8>?) -> Bool {
    isBelow(removals, removal, fence) || isBelow(insertions, insertion, fence)
  }

  private func isBelow(
    _ entries: IndexEntries, _ index: Int, _ fence: ArraySlice<UInt8>?
  ) -> Bool {
    guard index < entries.count else { return false }
    guard let fence else { return true }
    return entries.bytes.withUnsafeBytes { all in
      fence.withUnsafeBytes { fence in
        compare(UnsafeRawBufferPointer(rebasing: all[entries.range(index)]), held: fence) == .before
      }
    }
  }
}

// One leaf.
extension IndexMerge {
  /// Applies what belongs to one leaf, and appends the leaves that come of it.
  private mutating func merge(
    _ leaf: IndexLeaf, lower: ArraySlice<UInt8>, upper: ArraySlice<UInt8>?,
    into leaves: inout GroupBuilder<IndexLeaf>
  ) throws(StateFault) {
    let kept = removeEntries(from: leaf.entries, below: upper)
    let merged = try insertEntries(into: kept, below: upper)
    guard merged.count > 0 else { return }
    leaves.append(
      form == .whole ? merged : merged.trimmed(lower: lower, upper: upper, margin: 1),
      fence: lower)
  }

  /// The entries without those removed. An entry goes only if its row is that of the removal: a key
  /// that another row holds stays.
  private mutating func removeEntries(
    from leaf: LeafEntries, below upper: ArraySlice<UInt8>?
  ) -> IndexEntries {
    let entries = leaf.whole
    guard isBelow(removals, removal, upper) else { return entries }
    var result = IndexEntries()
    result.reserve(entries.count, bytes: entries.bytes.count)
    // The entries before are in the result, or removed.
    var next = 0
    while isBelow(removals, removal, upper) {
      let found = removals.bytes.withUnsafeBytes { all in
        leaf.find(UnsafeRawBufferPointer(rebasing: all[removals.range(removal)]))
      }
      if let found, found >= next, entries.rows[found] == removals.rows[removal] {
        result.append(next..<found, of: entries)
        next = found + 1
      }
      removal += 1
    }
    if next == 0 { return entries }
    result.append(next..<entries.count, of: entries)
    return result
  }

  /// The entries with those inserted whose keys are free.
  private mutating func insertEntries(
    into entries: IndexEntries, below upper: ArraySlice<UInt8>?
  ) throws(StateFault) -> IndexEntries {
    let first = insertion
    while isBelow(insertions, insertion, upper) { insertion += 1 }
    guard first < insertion else { return entries }
    let old = form == .whole ? entries : try expand(entries, for: first..<insertion)
    var result = IndexEntries()
    let added = insertions.range(first).lowerBound..<insertions.range(insertion - 1).upperBound
    result.reserve(old.count + insertion - first, bytes: old.bytes.count + added.count)
    // The old entries before are in the result.
    var taken = 0
    var last: Int?
    var places = InsertionPlaces(old, isSparse: old.count > 8 * (insertion - first))
    for index in first..<insertion {
      let row = insertions.rows[index]
      let (place, isHeld) = insertions.bytes.withUnsafeBytes {
        places.next(UnsafeRawBufferPointer(rebasing: $0[insertions.range(index)]))
      }
      if isHeld {
        conflicts.append(KeyConflict(row: row, holder: old.rows[place]))
      } else if let last, haveEqualKeys(last, index) {
        conflicts.append(KeyConflict(row: row, holder: insertions.rows[last]))
      } else {
        result.append(taken..<place, of: old)
        result.append(index..<index + 1, of: insertions)
        taken = place
        last = index
      }
    }
    result.append(taken..<old.count, of: old)
    return result
  }

  /// Whether two insertions have the same key.
  private func haveEqualKeys(_ a: Int, _ b: Int) -> Bool {
    let (a, b) = (insertions.range(a), insertions.range(b))
    guard a.count == b.count else { return false }
    return insertions.bytes.withUnsafeBytes {
      compare(
        UnsafeRawBufferPointer(rebasing: $0[a]), held: UnsafeRawBufferPointer(rebasing: $0[b]))
        == .matches
    }
  }

  /// The entries with whole keys in place of those whose held bytes begin a key to be inserted, so
  /// that all compare.
  private func expand(
    _ entries: IndexEntries, for range: Range<Int>
  ) throws(StateFault) -> IndexEntries {
    let leaf = LeafEntries(entries)
    var whole: [(index: Int, key: ContiguousArray<UInt8>)] = []
    for index in range {
      let found = insertions.bytes.withUnsafeBytes {
        leaf.find(UnsafeRawBufferPointer(rebasing: $0[insertions.range(index)]))
      }
      if let found, whole.last?.index != found {
        whole.append((found, try wholeKey(entries.rows[found])))
      }
    }
    if whole.isEmpty { return entries }
    var result = IndexEntries()
    var next = 0
    for index in 0..<entries.count {
      if next < whole.count, whole[next].index == index {
        whole[next].key.withUnsafeBytes { result.append($0, row: entries.rows[index]) }
        next += 1
      } else {
        entries.bytes.withUnsafeBytes {
          result.append(
            UnsafeRawBufferPointer(rebasing: $0[entries.range(index)]), row: entries.rows[index])
        }
      }
    }
    return result
  }
}
