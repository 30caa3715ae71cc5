import AnnalsFormat
import AnnalsModel

// An index is a B+tree of three levels below its root: branches, nodes, leaves. A node is what one
// chunk of a checkpoint holds. Branches, nodes and leaves are shared by all trees that have them: a
// change copies those along its path that another tree has, too, and changes the others in place.
//
// Invariants:
// - Entries rise by key, and no two keys are equal: those of an ordered index end with the row.
// - Of the key of an ordered index a leaf holds everything. Of that of a unique one at least the
//   bytes that tell it from the entries before and after it, in its own leaf and in its neighbours,
//   and often no more: whoever finds an entry whose held bytes begin the key looked for reads the
//   rest from the columns.
// - A fence stands before each child: no key in the child or after it is below, every key before it
//   is. The fence of a first child is empty: the parent's holds.
// - No leaf, node or branch is empty; each knows how many entries are below it.

/// Where a key belongs, and what is there.
struct IndexPath {
  var branch = 0
  var slot = 0
  var leaf = 0
  /// The entry whose held bytes begin the key, or else the one that the key would stand before.
  var index = 0
  /// The row of the entry whose held bytes begin the key, if there is one.
  var holder: Int64?
  /// How many bytes that entry holds; 0 without one.
  var heldLength = 0
  /// How many entries the leaf has.
  var leafCount = 0
}

/// The least bytes that separate children of a node.
struct Fences: Sendable {
  private var bytes: ContiguousArray<UInt8> = []
  private var ends: ContiguousArray<UInt32> = []
  /// The first eight bytes of each fence, with zeros where it is shorter: mostly they decide.
  private var heads: ContiguousArray<UInt64> = []

  var count: Int { ends.count }

  mutating func append(_ fence: some Collection<UInt8>) {
    bytes.append(contentsOf: fence)
    ends.append(UInt32(bytes.count))
    var head: UInt64 = 0
    for (place, byte) in fence.prefix(8).enumerated() { head |= UInt64(byte) << (56 - 8 * place) }
    heads.append(head)
  }

  subscript(index: Int) -> ArraySlice<UInt8> {
    bytes[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
  }

  /// The child that a key belongs to.
  @inline(__always)
  func child(of key: UnsafeRawBufferPointer) -> Int {
    let head = key.head
    let undecided = heads.withUnsafeBufferPointer { heads in
      let low = heads.firstPlace(from: 1) { $0 >= head }
      let isDecided = low == heads.count || heads[low] > head
      return low..<(isDecided ? low : heads.firstPlace(from: low) { $0 > head })
    }
    return undecided.isEmpty ? undecided.lowerBound - 1 : child(of: key, among: undecided)
  }

  private func child(of key: UnsafeRawBufferPointer, among places: Range<Int>) -> Int {
    bytes.withUnsafeBytes { all in
      var low = places.lowerBound
      var high = places.upperBound
      while low < high {
        let middle = (low + high) / 2
        let range = Int(ends[middle - 1])..<Int(ends[middle])
        let fence = UnsafeRawBufferPointer(rebasing: all[range])
        if compare(key, held: fence) == .before { high = middle } else { low = middle + 1 }
      }
      return low - 1
    }
  }
}

extension UnsafeBufferPointer {
  /// The first place from `start` on whose element passes, if all that pass are behind the others.
  @inline(__always)
  fileprivate func firstPlace(from start: Int, where passes: (Element) -> Bool) -> Int {
    var low = start
    var high = Swift.max(start, count)
    while low < high {
      let middle = (low + high) / 2
      if passes(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// Up to 512 entries.
///
/// Read from any thread; written only by the holder of the one reference, like branches and nodes.
final class IndexLeaf: @unchecked Sendable {
  static let maximumCount = 512
  /// How many entries a leaf has when it is made from many.
  static let targetCount = 256

  // Exclusive access follows from the rule above; see `Table`.
  @exclusivity(unchecked) var entries: LeafEntries

  init(_ entries: LeafEntries) { self.entries = entries }

  convenience init(_ entries: IndexEntries) { self.init(LeafEntries(entries)) }

  /// Completes a path by where in the leaf a key belongs.
  @inline(__always)
  func seek(_ key: UnsafeRawBufferPointer, _ path: inout IndexPath) {
    let (index, isHeld) = entries.place(of: key)
    path.index = index
    path.holder = isHeld ? entries.rows[index] : nil
    path.heldLength = isHeld ? entries.range(index).count : 0
    path.leafCount = entries.count
  }

  /// Appends the rows of the entries from an index on whose keys are before the bytes, if there
  /// are any. Returns whether these are all from there on.
  func appendRows(
    from index: Int, before bytes: UnsafeRawBufferPointer?, to rows: inout [Int64]
  ) -> Bool {
    let end = bytes.map { entries.place(of: $0).index } ?? entries.count
    if index < end { rows.append(contentsOf: entries.rows[index..<end]) }
    return end == entries.count
  }
}

/// The leaves that one chunk holds.
final class IndexNode: @unchecked Sendable {
  /// At most this many leaves, so that their entries fit a chunk.
  static let maximumCount = 24
  static let targetCount = 16

  @exclusivity(unchecked) private(set) var leaves: ContiguousArray<IndexLeaf>
  let fences: Fences
  @exclusivity(unchecked) private(set) var count: Int

  init(leaves: ContiguousArray<IndexLeaf>, fences: Fences) {
    self.leaves = leaves
    self.fences = fences
    count = leaves.reduce(0) { $0 + $1.entries.count }
  }

  init(copying other: IndexNode) {
    leaves = other.leaves
    fences = other.fences
    count = other.count
  }

  /// Completes a path by the leaf that a key belongs to, and where in it.
  @inline(__always)
  func seek(_ key: UnsafeRawBufferPointer, _ path: inout IndexPath) {
    path.leaf = fences.child(of: key)
    leaves[path.leaf].seek(key, &path)
  }

  /// The leaf at a place for writing, copied first if it is shared; it is about to have so many
  /// entries more.
  func writableLeaf(_ place: Int, change: Int) -> IndexLeaf {
    if !isKnownUniquelyReferenced(&leaves[place]) {
      leaves[place] = IndexLeaf(leaves[place].entries)
    }
    count += change
    return leaves[place]
  }

  /// All entries, as a chunk holds them.
  var entries: IndexEntries {
    var result = IndexEntries()
    result.reserve(count, bytes: leaves.reduce(0) { $0 + $1.entries.bytes.count })
    for leaf in leaves { result.append(0..<leaf.entries.count, of: leaf.entries.whole) }
    return result
  }

  /// The node with these entries, at least one.
  convenience init(_ entries: IndexEntries) {
    var builder = GroupBuilder<IndexLeaf>()
    builder.append(entries)
    self.init(leaves: builder.children, fences: builder.fences)
  }
}

/// A node as a checkpoint holds it.
final class StoredIndexNode: Sendable {
  let reference: ChunkReference
  let source: any ChunkSource
  private let form: IndexForm
  private let entity: EntityNumber
  private let rule: PropertyNumber
  private let loaded = Once<IndexNode>()

  init(
    _ reference: ChunkReference, form: IndexForm, source: any ChunkSource, entity: EntityNumber,
    rule: PropertyNumber, node: IndexNode? = nil
  ) {
    self.reference = reference
    self.form = form
    self.source = source
    self.entity = entity
    self.rule = rule
    if let node { _ = loaded.storeIfNil(node) }
  }

  var nodeIfLoaded: IndexNode? { loaded.value }

  /// The node; read now if it was not.
  func node() throws(StateFault) -> IndexNode {
    if let node = loaded.value { return node }
    let (header, entries) = try source.decode(reference) {
      bytes throws(DecodeFault) in try IndexChunkCodec.decode(bytes)
    }
    guard header.content == form.content, header.entity == entity, header.property == rule,
      header.count == Int(reference.count)
    else { throw source.mismatch(reference) }
    return loaded.storeIfNil(IndexNode(entries))
  }
}

/// A node's place in a branch.
struct IndexSlot: Sendable {
  /// The node, if it was changed since the last checkpoint; then `stored` is nil.
  private(set) var changed: IndexNode?
  /// The node as the last checkpoint holds it.
  private(set) var stored: StoredIndexNode?

  init(_ changed: IndexNode) { self.changed = changed }

  init(_ stored: StoredIndexNode) { self.stored = stored }

  var count: Int { changed?.count ?? stored.map { Int($0.reference.count) } ?? 0 }

  func node() throws(StateFault) -> IndexNode {
    if let changed { return changed }
    guard let stored else { preconditionFailure("a place without a node") }
    return try stored.node()
  }

  /// The node for writing, copied first if it is shared or stored.
  mutating func writableNode() throws(StateFault) -> IndexNode {
    if isKnownUniquelyReferenced(&changed), let changed { return changed }
    let new = IndexNode(copying: try node())
    self = IndexSlot(new)
    return new
  }
}

/// Up to 32 nodes.
final class IndexBranch: @unchecked Sendable {
  static let maximumCount = 32
  static let targetCount = 24

  @exclusivity(unchecked) private(set) var slots: ContiguousArray<IndexSlot>
  let fences: Fences
  @exclusivity(unchecked) private(set) var count: Int

  init(slots: ContiguousArray<IndexSlot>, fences: Fences) {
    self.slots = slots
    self.fences = fences
    count = slots.reduce(0) { $0 + $1.count }
  }

  init(copying other: IndexBranch) {
    slots = other.slots
    fences = other.fences
    count = other.count
  }

  /// Completes a path by the node that a key belongs to, and where in it.
  @inline(__always)
  func seek(_ key: UnsafeRawBufferPointer, _ path: inout IndexPath) throws(StateFault) {
    path.slot = fences.child(of: key)
    try slots[path.slot].node().seek(key, &path)
  }

  /// The node at a place for writing; it is about to have so many entries more.
  func writableNode(_ place: Int, change: Int) throws(StateFault) -> IndexNode {
    let node = try slots[place].writableNode()
    count += change
    return node
  }
}
