import AnnalsFormat
import AnnalsModel

// An index is a B+tree of three levels below its root: branches, nodes, leaves. A node is what one
// chunk of a checkpoint holds. Nodes are never changed: a change makes new ones along its path.
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

/// The least bytes that separate children of a node.
struct Fences: Sendable {
  private var bytes: ContiguousArray<UInt8> = []
  private var ends: ContiguousArray<UInt32> = []

  var count: Int { ends.count }

  mutating func append(_ fence: some Collection<UInt8>) {
    bytes.append(contentsOf: fence)
    ends.append(UInt32(bytes.count))
  }

  subscript(index: Int) -> ArraySlice<UInt8> {
    bytes[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
  }

  /// The child that a key belongs to.
  func child(of key: UnsafeRawBufferPointer) -> Int {
    bytes.withUnsafeBytes { all in
      var low = 1
      var high = ends.count
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

/// Up to 512 entries.
final class IndexLeaf: Sendable {
  static let maximumCount = 512
  /// How many entries a leaf has when it is made from many.
  static let targetCount = 256

  let entries: LeafEntries

  init(_ entries: LeafEntries) { self.entries = entries }

  convenience init(_ entries: IndexEntries) { self.init(LeafEntries(entries)) }
}

/// The leaves that one chunk holds.
final class IndexNode: Sendable {
  /// At most this many leaves, so that their entries fit a chunk.
  static let maximumCount = 24
  static let targetCount = 16

  let leaves: ContiguousArray<IndexLeaf>
  let fences: Fences
  let count: Int

  init(leaves: ContiguousArray<IndexLeaf>, fences: Fences, count: Int? = nil) {
    self.leaves = leaves
    self.fences = fences
    self.count = count ?? leaves.reduce(0) { $0 + $1.entries.count }
  }

  /// All entries, as a chunk holds them.
  var entries: IndexEntries {
    var result = IndexEntries()
    result.reserve(count, bytes: leaves.reduce(0) { $0 + $1.entries.bytes.count })
    for leaf in leaves {
      let start = UInt32(result.bytes.count)
      result.bytes.append(contentsOf: leaf.entries.bytes)
      for index in 0..<leaf.entries.count {
        result.ends.append(start + UInt32(leaf.entries.range(index).upperBound))
      }
      result.rows.append(contentsOf: leaf.entries.rows)
    }
    return result
  }

  /// The node with these entries, at least one.
  convenience init(_ entries: IndexEntries) {
    var builder = LeafBuilder()
    builder.append(entries)
    self.init(leaves: builder.leaves, fences: builder.fences)
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

/// A node's place in a branch: in memory, changed since the last checkpoint, or stored.
enum IndexSlot: Sendable {
  case changed(IndexNode)
  case stored(StoredIndexNode)

  var count: Int {
    switch self {
    case .changed(let node): node.count
    case .stored(let box): Int(box.reference.count)
    }
  }

  func node() throws(StateFault) -> IndexNode {
    switch self {
    case .changed(let node): node
    case .stored(let box): try box.node()
    }
  }
}

/// Up to 32 nodes.
final class IndexBranch: Sendable {
  static let maximumCount = 32
  static let targetCount = 24

  let slots: ContiguousArray<IndexSlot>
  let fences: Fences
  let count: Int

  init(slots: ContiguousArray<IndexSlot>, fences: Fences, count: Int? = nil) {
    self.slots = slots
    self.fences = fences
    self.count = count ?? slots.reduce(0) { $0 + $1.count }
  }
}
