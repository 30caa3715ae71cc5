import AnnalsFormat
import AnnalsModel

// Rows are kept in groups of 4,096, the unit that a checkpoint stores: which of them live, and for
// each column sixteen leaves. All columns of an entity share one tree of groups, so that writing
// several properties of an object copies the path to them once.

/// Where a row is: the group, the leaf in it, the slot in that.
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

/// One column's part in a group: either in memory, changed since the last checkpoint, or as a
/// checkpoint holds it.
struct ColumnSlot {
  /// Sixteen leaves, nil where no row has a value; or none at all.
  var leaves: ContiguousArray<Leaf?> = []
  /// What a checkpoint holds; then `leaves` is empty.
  var stored: StoredColumn?

  /// Whether there is nothing.
  var isEmpty: Bool { leaves.isEmpty && stored == nil }

  /// The leaf, if it has any value.
  @inline(__always)
  func leaf(_ index: Int) throws(StateFault) -> Leaf? {
    if !leaves.isEmpty { return leaves[index] }
    return try stored?.leaves()[index]
  }

  /// All leaves, or none.
  func allLeaves() throws(StateFault) -> ContiguousArray<Leaf?> {
    if let stored { return try stored.leaves() }
    return leaves
  }

  /// Takes the leaves into memory, to be changed.
  mutating func prepareToWrite() throws(StateFault) {
    guard leaves.isEmpty else { return }
    if let stored {
      leaves = try stored.leaves()
      self.stored = nil
    } else {
      leaves = ContiguousArray(repeating: nil, count: RowPosition.leafCount)
    }
  }
}

/// The values of up to 4,096 consecutive rows.
///
/// Read from any thread; written only by the one holder of its only reference.
final class RowGroup: @unchecked Sendable {
  /// A bit for each row that lives: 64 words, or none if no row does or the bits are stored.
  private var live: ContiguousArray<UInt64> = []
  /// What a checkpoint holds of the bits; then `live` is empty.
  private(set) var storedLive: StoredRows?
  /// How many rows live.
  private(set) var liveCount = 0
  /// By column position; columns beyond have no value here.
  var slots: ContiguousArray<ColumnSlot> = []

  init() {}

  init(copying other: RowGroup) {
    live = other.live
    storedLive = other.storedLive
    liveCount = other.liveCount
    slots = other.slots
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

  /// Makes room for the columns up to this position.
  @inline(__always)
  func reserve(column: Int) {
    if slots.count <= column {
      slots.append(contentsOf: repeatElement(ColumnSlot(), count: column + 1 - slots.count))
    }
  }
}

/// The groups of an entity: a tree of fan-out 32 of fixed depth, its root as wide as it must be.
///
/// A root entry spans 2^22 rows, so the root of an entity with a hundred million objects has 24.
struct GroupTree: Sendable {
  private typealias Lower = ContiguousArray<RowGroup?>
  private typealias Upper = ContiguousArray<Lower>

  private var root: ContiguousArray<Upper> = []

  /// One more than the greatest index that a group may have now.
  var indexLimit: Int { root.count << 10 }

  /// The group, if any of its rows ever lived.
  @inline(__always)
  func group(_ index: Int) -> RowGroup? {
    let high = index >> 10
    guard high < root.count else { return nil }
    let middle = (index >> 5) & 31
    guard middle < root[high].count else { return nil }
    let low = index & 31
    guard low < root[high][middle].count else { return nil }
    return root[high][middle][low]
  }

  /// The group for writing: nobody else holds it. Made if there is none.
  mutating func writableGroup(_ index: Int) -> RowGroup {
    let high = index >> 10
    let middle = (index >> 5) & 31
    let low = index & 31
    if high >= root.count {
      root.append(contentsOf: repeatElement([], count: high + 1 - root.count))
    }
    if middle >= root[high].count {
      root[high].append(contentsOf: repeatElement([], count: middle + 1 - root[high].count))
    }
    if low >= root[high][middle].count {
      root[high][middle].append(
        contentsOf: repeatElement(nil, count: low + 1 - root[high][middle].count))
    }
    return GroupTree.makeWritable(&root[high][middle][low])
  }

  @inline(__always)
  private static func makeWritable(_ group: inout RowGroup?) -> RowGroup {
    if isKnownUniquelyReferenced(&group), let group { return group }
    let new = group.map(RowGroup.init(copying:)) ?? RowGroup()
    group = new
    return new
  }

  /// Forgets a group.
  mutating func removeGroup(_ index: Int) {
    guard group(index) != nil else { return }
    root[index >> 10][(index >> 5) & 31][index & 31] = nil
  }

  /// The first index from `start` on whose group exists; the end of the tree if there is none.
  func nextIndex(from start: Int) -> Int? {
    var index = max(start, 0)
    let limit = indexLimit
    while index < limit {
      let upper = root[index >> 10]
      let middle = (index >> 5) & 31
      guard middle < upper.count else {
        index = (index >> 10 + 1) << 10
        continue
      }
      let lower = upper[middle]
      for low in (index & 31)..<max(index & 31, lower.count) where lower[low] != nil {
        return index & ~31 | low
      }
      index = (index | 31) + 1
    }
    return nil
  }

  /// The last index up to `start` whose group exists.
  func previousIndex(from start: Int) -> Int? {
    var index = min(start, indexLimit - 1)
    while index >= 0 {
      if group(index) != nil { return index }
      let upper = root[index >> 10]
      if (index >> 5) & 31 >= upper.count {
        // Nothing in this part of the root: on to its last possible place.
        index = (index & ~1023) + upper.count << 5 - 1
      } else {
        index -= 1
      }
    }
    return nil
  }
}
