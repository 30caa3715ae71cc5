import AnnalsFormat
import AnnalsModel

/// Rows by key: a B+tree whose nodes are shared by all states that have them.
struct IndexTree: Sendable {
  var branches: ContiguousArray<IndexBranch> = []
  var fences = Fences()
  /// How many entries there are.
  var count = 0
  /// What entries hold of their keys.
  let form: IndexForm
  /// Whether a checkpoint holds the tree, perhaps as it was some changes ago.
  var isSaved = false

  init(form: IndexForm) { self.form = form }

  /// The tree that a checkpoint holds; its chunks are read when they are touched.
  init(
    _ directory: IndexDirectory, form: IndexForm, source: any ChunkSource, entity: EntityNumber
  ) {
    var slots = GroupBuilder<IndexSlot>()
    for chunk in directory.chunks {
      let box = StoredIndexNode(
        chunk.reference, form: form, source: source, entity: entity, rule: directory.rule)
      slots.append(IndexSlot(box), fence: chunk.lowestKey)
    }
    self.init(slots, form: form)
  }

  private init(_ slots: GroupBuilder<IndexSlot>, form: IndexForm) {
    self.form = form
    isSaved = true
    slots.forEachGroup(maximum: IndexBranch.maximumCount, target: IndexBranch.targetCount) {
      slots, inner, fence in
      branches.append(IndexBranch(slots: slots, fences: inner))
      fences.append(branches.count == 1 ? ArraySlice() : fence)
    }
    count = branches.reduce(0) { $0 + $1.count }
  }

  /// The row of the entry whose held bytes begin the key, and whether they are all of it.
  ///
  /// Touches one chunk. If the bytes held are not all, the caller compares the rest.
  func find(_ key: UnsafeRawBufferPointer) throws(StateFault) -> (row: Int64, isWhole: Bool)? {
    guard !branches.isEmpty else { return nil }
    let path = try path(of: key)
    return path.holder.map { ($0, path.heldLength == key.count) }
  }

  /// Calls `body` with each node's slot and the fence before it, in order.
  func forEachSlot(_ body: (IndexSlot, ArraySlice<UInt8>) throws -> Void) rethrows {
    for (number, branch) in branches.enumerated() {
      for (index, slot) in branch.slots.enumerated() {
        try body(slot, index == 0 ? fences[number] : branch.fences[index])
      }
    }
  }

  /// Writes the chunks that are not stored, or all of them, and returns all of them in order.
  mutating func write(
    full: Bool, entity: EntityNumber, rule: PropertyNumber, to writer: inout ChunkWriter
  ) throws -> [IndexChunk] {
    var slots = GroupBuilder<IndexSlot>()
    var chunks: [IndexChunk] = []
    var position: Int64 = 0
    var all: [(slot: IndexSlot, fence: ArraySlice<UInt8>)] = []
    forEachSlot { all.append(($0, $1)) }
    for (index, (slot, fence)) in all.enumerated() {
      let upper = index + 1 < all.count ? all[index + 1].fence : nil
      var (reference, new) = try write(
        slot, fences: (fence, upper), full: full, first: position, entity: entity, rule: rule,
        to: &writer)
      reference.first = position
      position += Int64(reference.count)
      slots.append(new, fence: fence)
      chunks.append(IndexChunk(reference: reference, lowestKey: ContiguousArray(fence)))
    }
    self = IndexTree(slots, form: form)
    return chunks
  }

  private func write(
    _ slot: IndexSlot, fences: (lower: ArraySlice<UInt8>, upper: ArraySlice<UInt8>?), full: Bool,
    first: Int64, entity: EntityNumber, rule: PropertyNumber, to writer: inout ChunkWriter
  ) throws -> (ChunkReference, IndexSlot) {
    let node: IndexNode?
    let reference: ChunkReference
    if let box = slot.stored {
      guard full else { return (box.reference, slot) }
      node = box.nodeIfLoaded
      reference = try writer.copy(box.reference, from: box.source, first: first)
    } else {
      let changed = try slot.node()
      node = changed
      var entries = changed.entries
      if form == .beginnings {
        entries = entries.trimmed(lower: fences.lower, upper: fences.upper, margin: 0)
      }
      reference = try writer.write(first: first, count: entries.count) { output, deflate in
        IndexChunkCodec.encode(
          entries, form: form, entity: entity, rule: rule, into: &output, deflate: &deflate)
      }
    }
    let box = StoredIndexNode(
      reference, form: form, source: writer.source, entity: entity, rule: rule, node: node)
    return (reference, IndexSlot(box))
  }
}
