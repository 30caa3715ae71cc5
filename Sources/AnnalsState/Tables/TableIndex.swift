import AnnalsFormat
import AnnalsModel

// The rows of an entity by the keys of one index.
//
// While a transaction runs (or a log is replayed) only what changed is noted: the key that a row
// had when it was first touched. The tree follows when somebody looks up, and at the commit: the
// keys that rows lost are taken out, those that they have now put in, all in one pass in key order.
// So values may be exchanged, or freed and taken again, in any order; what counts is the end.
//
// Invariants, where nothing is noted:
// - Each row that lives and has a key is in the tree once, or in `unplaced`, with the row that has
//   its key. In an ordered index every row that lives has a key. In a reference index a row may
//   have several, and is there with each. Only rows of unique indexes are ever unplaced.

/// An index of a table: rows by key.
struct TableIndex: Sendable {
  let keys: IndexKeys
  var tree: IndexTree
  /// The rows whose key another row has, or whose value is too large for a key.
  private(set) var unplaced: ContiguousArray<KeyConflict> = []
  /// The old keys of touched rows, in order of touching; empty for no key.
  private var noted = IndexEntries()
  /// Rows from here on are new since the tree was updated, and are not noted.
  private var freshRow: Int64
  /// Memory for a key.
  private var spareKey: ContiguousArray<UInt8> = []

  /// An index over a table: everything there is new to it. `place` gives each column's position;
  /// nil if there is no column, or not one of them.
  init?(_ shape: IndexShape, placing place: (PropertyNumber) -> Int?) {
    guard let keys = IndexKeys(shape, placing: place) else { return nil }
    self.keys = keys
    tree = IndexTree(form: shape.form)
    freshRow = 1
  }

  /// The index as loaded from a checkpoint.
  func loaded(_ tree: IndexTree, nextRow: Int64) -> TableIndex {
    var result = self
    result.tree = tree
    result.freshRow = nextRow
    return result
  }

  /// What the index is over.
  var shape: IndexShape { keys.shape }

  /// Whether the tree is out of date with a table whose next row is this.
  @inline(__always)
  func isStale(_ nextRow: Int64) -> Bool { !noted.rows.isEmpty || freshRow < nextRow }

  /// How many rows are noted.
  var notedCount: Int { noted.count }

  /// The most rows that are noted before the tree is updated: bounds memory in a long replay.
  private static let notedLimit = 1 << 18
  /// The most bytes of keys that are held at once, noted or of new rows.
  private static let byteLimit = 1 << 28

  /// Notes the key of a row that is about to change.
  mutating func note(_ row: Int64, in table: Table) throws(StateFault) {
    // If a row is noted twice, the first note counts.
    guard row < freshRow, noted.rows.last != row else { return }
    // Before the note, which the update would use up.
    if noted.count >= TableIndex.notedLimit || noted.bytes.count >= TableIndex.byteLimit {
      try update(from: table)
    }
    _ = try table.appendKey(row, of: keys, to: &noted.bytes)
    noted.endEntry(row: row)
  }

  /// Updates the tree.
  mutating func update(from table: Table) throws(StateFault) {
    if try updateOne(from: table) { return }
    // More than once only if new rows have more bytes of keys than should be held at once.
    while isStale(table.nextRow) {
      var removals = IndexEntries()
      var insertions = IndexEntries()
      var tooLarge: ContiguousArray<KeyConflict> = []
      try collectNoted(table, &removals, &insertions, &tooLarge)
      let end = try collectFresh(table, &insertions, &tooLarge)
      let conflicts = try apply(removals, insertions, from: table)
      unplaced = tooLarge
      unplaced.append(contentsOf: conflicts)
      noted = IndexEntries()
      freshRow = end
    }
  }

  /// Updates the tree if one row is all that changed, as mostly, in the memory of the time before.
  /// False if more did, or if what is to be done takes more than one leaf; a part may be done then.
  private mutating func updateOne(from table: Table) throws(StateFault) -> Bool {
    guard unplaced.isEmpty, noted.count + Int(table.nextRow - freshRow) == 1 else { return false }
    let row = noted.rows.last ?? freshRow
    var (old, new) = (ContiguousArray<UInt8>(), ContiguousArray<UInt8>())
    swap(&old, &noted.bytes)
    swap(&new, &spareKey)
    defer {
      swap(&old, &noted.bytes)
      swap(&new, &spareKey)
    }
    if !new.isEmpty { new.removeAll(keepingCapacity: true) }
    guard try table.appendKey(row, of: keys, to: &new) != .tooLarge else { return false }
    if old != new {
      if let length = keys.lengthOfMany, max(old.count, new.count) > length { return false }
      if try !exchange(old, for: new, of: row) { return false }
    }
    if noted.count > 0 {
      old.removeAll(keepingCapacity: true)
      noted.ends.removeAll(keepingCapacity: true)
      noted.rows.removeAll(keepingCapacity: true)
    }
    freshRow = table.nextRow
    return true
  }

  /// Takes a row's old key out of the tree, and puts the new one in; empty for no key. False if one
  /// of these takes more than one leaf.
  private mutating func exchange(
    _ old: ContiguousArray<UInt8>, for new: ContiguousArray<UInt8>, of row: Int64
  ) throws(StateFault) -> Bool {
    if !old.isEmpty {
      let isOut = try old.withUnsafeBufferPointer { (key) throws(StateFault) in
        try tree.removeOne(UnsafeRawBufferPointer(key), row: row)
      }
      guard isOut else { return false }
    }
    if new.isEmpty { return true }
    return try new.withUnsafeBufferPointer { (key) throws(StateFault) in
      try tree.insertOne(UnsafeRawBufferPointer(key), row: row)
    }
  }

  /// Below this many entries each is taken to its leaf by itself.
  private static let singleLimit = 16

  private mutating func apply(
    _ removals: IndexEntries, _ insertions: IndexEntries, from table: Table
  ) throws(StateFault) -> [KeyConflict] {
    var removals = removals
    var insertions = insertions
    if removals.count + insertions.count <= TableIndex.singleLimit {
      removals = try remaining(removals) { tree, key, row throws(StateFault) in
        try tree.removeOne(key, row: row)
      }
      // Keys that are not out yet may be those that are to be put in.
      if removals.count == 0 {
        insertions = try remaining(insertions) { tree, key, row throws(StateFault) in
          try tree.insertOne(key, row: row)
        }
      }
      if removals.count + insertions.count == 0 { return [] }
    }
    let keys = keys
    var merge = IndexMerge(
      removals: removals.sorted(), insertions: insertions.sorted(),
      wholeKey: { row throws(StateFault) in try table.key(row, of: keys) })
    try merge.apply(to: &tree)
    return merge.conflicts
  }

  /// The entries that could not be done by themselves.
  private mutating func remaining(
    _ entries: IndexEntries,
    _ body: (inout IndexTree, UnsafeRawBufferPointer, Int64) throws(StateFault) -> Bool
  ) throws(StateFault) -> IndexEntries {
    var rest = IndexEntries()
    for index in 0..<entries.count {
      try entries.bytes.withBytes { bytes throws(StateFault) in
        let key = UnsafeRawBufferPointer(rebasing: bytes[entries.range(index)])
        let row = entries.rows[index]
        if try !body(&tree, key, row) { rest.append(key, row: row) }
      }
    }
    return rest
  }

  /// What the rows noted, and those that had no place, had and have.
  private func collectNoted(
    _ table: Table, _ removals: inout IndexEntries, _ insertions: inout IndexEntries,
    _ tooLarge: inout ContiguousArray<KeyConflict>
  ) throws(StateFault) {
    var order = (0..<noted.count).map { (row: noted.rows[$0], index: $0) }
    // A row that had no place is not in the tree: it has nothing to take out.
    order += unplaced.map { ($0.row, -1) }
    order.sort { $0 < $1 }
    var previous: Int64 = 0
    for (row, index) in order where row != previous {
      previous = row
      let start = insertions.bytes.count
      let key = try table.appendKey(row, of: keys, to: &insertions.bytes)
      if key == .tooLarge { tooLarge.append(KeyConflict(row: row, holder: 0)) }
      if index >= 0 {
        let old = noted.range(index)
        if old.count == insertions.bytes.count - start,
          noted.bytes[old].elementsEqual(insertions.bytes[start...])
        {
          insertions.bytes.removeSubrange(start...)
          continue
        }
        if let length = keys.lengthOfMany {
          let new = ContiguousArray(insertions.bytes[start...])
          insertions.bytes.removeSubrange(start...)
          removals.append(noted.bytes[old], besides: new[...], length: length, row: row)
          insertions.append(new[...], besides: noted.bytes[old], length: length, row: row)
          continue
        }
        if !old.isEmpty {
          noted.bytes.withUnsafeBytes {
            removals.append(UnsafeRawBufferPointer(rebasing: $0[old]), row: row)
          }
        }
      }
      if key == .key { insertions.endEntry(row: row) }
    }
  }

  /// What the new rows have, leaf by leaf, since there may be many; returns the row before which it
  /// stopped.
  private func collectFresh(
    _ table: Table, _ insertions: inout IndexEntries,
    _ tooLarge: inout ContiguousArray<KeyConflict>
  ) throws(StateFault) -> Int64 {
    guard freshRow < table.nextRow else { return table.nextRow }
    let count = min(Int(clamping: table.nextRow - freshRow), table.liveCount)
    let room = min(count, TableIndex.byteLimit / 17)
    insertions.reserve(insertions.count + room, bytes: insertions.bytes.count + 17 * room)
    let bytesBefore = insertions.bytes.count
    let start = RowPosition(freshRow)
    var next = table.groups.nextIndex(from: start.group)
    while let index = next {
      next = table.groups.nextIndex(from: index + 1)
      guard let group = table.groups.group(index) else { continue }
      if insertions.bytes.count - bytesBefore >= TableIndex.byteLimit {
        return max(freshRow, RowPosition.firstRow(ofGroup: index))
      }
      let live = try group.liveWords()
      let first = index == start.group ? start.offset : 0
      guard !live.isEmpty else { continue }
      for leaf in first >> 8..<RowPosition.leafCount {
        let words = live[leaf * Leaf.bitWords..<(leaf + 1) * Leaf.bitWords]
        guard words.contains(where: { $0 != 0 }) else { continue }
        var leaves: ContiguousArray<Leaf?> = []
        for column in keys.columns { leaves.append(try group.leaf(leaf, column: column.place)) }
        if keys.shape.isUnique, leaves.contains(where: { $0 == nil }) { continue }
        let tested = try keys.testLeaves(leaf, of: group)
        let firstRow = RowPosition.firstRow(ofGroup: index) + Int64(leaf * Leaf.rowCount)
        let firstSlot = max(0, first - leaf * Leaf.rowCount)
        for slot in firstSlot..<Leaf.rowCount
        where words[leaf * Leaf.bitWords + slot >> 6] & (1 << UInt64(slot & 63)) != 0 {
          let row = firstRow + Int64(slot)
          guard keys.tests.isEmpty || keys.isOfRow(tested, slot) else { continue }
          let begin = insertions.bytes.count
          switch keys.appendKey(row, in: leaves, slot, to: &insertions.bytes) {
          case .key: insertions.endEntries(row: row, from: begin, of: keys)
          case .tooLarge: tooLarge.append(KeyConflict(row: row, holder: 0))
          case .none: break
          }
        }
      }
    }
    return table.nextRow
  }
}
