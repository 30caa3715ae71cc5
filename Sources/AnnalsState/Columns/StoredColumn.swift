import AnnalsFormat
import AnnalsModel

// A column of a group that is read when somebody asks for it. It is what a checkpoint stores, or
// what was there before some changes were undone: values put into another column, which is left as
// it is. So a past state costs what happened since, and not the groups in which it happened.

/// A column of a group as a checkpoint stores it, or an edited one, and its leaves once they are
/// read: each with the chunk that it is in.
///
/// Read from any thread; edited only by the holder of the one reference, before anybody reads it.
final class StoredColumn: @unchecked Sendable {
  /// The chunks, in the order of their rows. None of a column that was edited.
  let references: [ChunkReference]
  let source: any ChunkSource
  /// What the edits are made to; nil for what a checkpoint stores.
  let origin: StoredColumn?
  @exclusivity(unchecked) private var edits = ColumnEdits()
  private let entity: EntityNumber
  private let column: Column
  private let group: Int
  private let loaded = LoadedLeaves()

  /// Chunks and the leaves that are read together with them.
  struct Part {
    fileprivate(set) var chunks: Range<Int>
    fileprivate(set) var leaves: Range<Int>
  }

  /// A column of which nothing was read.
  init(
    _ references: [ChunkReference], source: any ChunkSource, entity: EntityNumber,
    column: Column, group: Int
  ) {
    self.references = references
    self.source = source
    origin = nil
    self.entity = entity
    self.column = column
    self.group = group
  }

  /// A column of which these leaves are known, and those that another has read.
  convenience init(
    _ references: [ChunkReference], source: any ChunkSource, entity: EntityNumber,
    column: Column, group: Int, leaves: [(index: Int, leaf: Leaf?)], besides other: StoredColumn?
  ) {
    self.init(references, source: source, entity: entity, column: column, group: group)
    for (index, leaf) in leaves { loaded.storeIfMissing(leaf, at: index) }
    if let other { loaded.store(other.loaded) }
  }

  /// A column with these edits made to another, which was not itself edited.
  private init(_ edits: ColumnEdits, to origin: StoredColumn) {
    references = []
    source = origin.source
    self.origin = origin
    self.edits = edits
    entity = origin.entity
    column = origin.column
    group = origin.group
  }

  /// The same values in other chunks, or in none if all was read; what was read of this is known.
  func moved(to references: [ChunkReference], _ source: any ChunkSource) -> StoredColumn {
    let result = StoredColumn(
      references, source: source, entity: entity, column: column, group: group)
    result.loaded.store(loaded)
    return result
  }

  /// Whether all leaves were read.
  var isRead: Bool { loaded.isFull }

  /// Whether none was.
  var isUnread: Bool { loaded.isEmpty }

  /// One of the leaves if it was read, without a reference counted: valid as long as this object.
  @inline(__always)
  func unretainedLeaf(_ index: Int) -> (isLoaded: Bool, leaf: Unmanaged<Leaf>?) { loaded[index] }

  /// One of the leaves; read now if it was not.
  func leaf(_ index: Int) throws(StateFault) -> Leaf? {
    let known = loaded[index]
    if known.isLoaded { return known.leaf?.takeUnretainedValue() }
    let part = self.part(of: index)
    let leaves = try readLeaves(part)
    for index in part.leaves { loaded.storeIfMissing(leaves[index], at: index) }
    return loaded[index].leaf?.takeUnretainedValue()
  }

  /// Sixteen leaves; read now if they were not.
  func leaves() throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves: ContiguousArray<Leaf?> = []
    leaves.reserveCapacity(RowPosition.leafCount)
    for index in 0..<RowPosition.leafCount { leaves.append(try leaf(index)) }
    return leaves
  }

  /// The parts, which together have all chunks and all leaves.
  var parts: [Part] {
    var parts: [Part] = []
    while (parts.last?.leaves.upperBound ?? 0) < RowPosition.leafCount {
      parts.append(part(of: parts.last?.leaves.upperBound ?? 0))
    }
    return parts
  }

  /// What a leaf is read with: chunks and leaves, of which neither reaches beyond the other.
  private func part(of leaf: Int) -> Part {
    if let origin { return origin.part(of: leaf) }
    var part = Part(chunks: 0..<references.count, leaves: 0..<RowPosition.leafCount)
    for (index, reference) in references.enumerated().dropFirst() {
      // A chunk that begins within a leaf is read with the one before.
      let offset = offset(of: reference)
      guard offset & 255 == 0 else { continue }
      if offset >> 8 > leaf {
        part.chunks = part.chunks.lowerBound..<index
        part.leaves = part.leaves.lowerBound..<offset >> 8
        return part
      }
      part.chunks = index..<references.count
      part.leaves = offset >> 8..<RowPosition.leafCount
    }
    return part
  }

  /// The place in the group of the row with which a chunk begins.
  private func offset(of reference: ChunkReference) -> Int {
    Int(reference.first - RowPosition.firstRow(ofGroup: group))
  }

  /// Sixteen leaves, of which only those of the part are read.
  private func readLeaves(_ part: Part) throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves = ContiguousArray<Leaf?>(repeating: nil, count: RowPosition.leafCount)
    guard let origin else {
      for reference in references[part.chunks] {
        try decode(reference, upTo: part.leaves.upperBound * Leaf.rowCount, into: &leaves)
      }
      return leaves
    }
    for index in part.leaves { leaves[index] = try origin.leaf(index) }
    guard edits.apply(to: &leaves, within: part.leaves) else {
      throw .invalid(
        entity: entity, row: RowPosition.firstRow(ofGroup: group),
        reason: "more bytes of values than can be counted")
    }
    return leaves
  }

  /// Puts the values of a chunk into leaves; its rows end before `limit`.
  private func decode(
    _ reference: ChunkReference, upTo limit: Int, into leaves: inout ContiguousArray<Leaf?>
  ) throws(StateFault) {
    let (header, values) = try source.decode(reference) {
      bytes throws(DecodeFault) in try ColumnChunkCodec.decode(bytes)
    }
    let offset = offset(of: reference)
    guard header.entity == entity, header.property == column.property,
      header.firstRow == reference.first, header.count == Int(reference.count),
      offset >= 0, offset + values.rows.span <= limit, fits(values),
      Leaf.fill(&leaves, from: offset, with: values)
    else { throw source.mismatch(reference) }
  }

  /// Whether the column admits the values, as it was defined when the checkpoint was read or
  /// written; later definitions admit more.
  private func fits(_ values: ColumnValues) -> Bool {
    if column.kind == .any {
      // Of any kind but those of relationships.
      return values.kind != .objects && values.kind != .object
        && !values.tags.contains(ValueTag.object.rawValue)
        && !values.tags.contains(ValueTag.objects.rawValue)
    }
    if values.kind == column.kind { return true }
    // Written when the column admitted more, with references to several entities, or with erased
    // values.
    return values.kind == .any
      && values.tags.allSatisfy {
        $0 == column.kind.rawValue || $0 == ValueTag.erased.rawValue
      }
  }
}

// Edits.
extension StoredColumn {
  /// How many edits a column has at most: with more it is read, and changed where it is.
  static let mostEdits = Int(RowPosition.groupRows)
  /// How many are copied when a state and its copy are edited in turn.
  private static let fewEdits = 64

  /// Edits a column in place of which the edited one comes, if that is another. False, and nothing
  /// done, if it has too many edits already.
  static func edit(
    _ column: inout StoredColumn, _ offset: Int, to cell: ValueCell,
    in arena: UnsafeRawBufferPointer
  ) -> Bool {
    guard column.edits.count < mostEdits else { return false }
    let isOpen = column.origin != nil && column.isUnread
    if !isOpen || !isKnownUniquelyReferenced(&column) {
      guard let copy = column.copiedForEdits else { return false }
      column = copy
    }
    column.edits.append(offset, cell, in: arena)
    return true
  }

  /// The same column for more edits; nil if it has so many that it should be read.
  private var copiedForEdits: StoredColumn? {
    guard let origin else { return StoredColumn(ColumnEdits(), to: self) }
    // Not one edited column behind the other without end.
    if isRead { return StoredColumn(ColumnEdits(), to: moved(to: [], source)) }
    return edits.count <= StoredColumn.fewEdits ? StoredColumn(edits, to: origin) : nil
  }

  /// The same column, for what is read from now on to be kept in it alone; this one if all was
  /// read. What it has in common with `other` it has in common with `copy`, which was made of that
  /// in this way.
  func unread(beside other: StoredColumn?, _ copy: StoredColumn?) -> StoredColumn {
    if let other, let copy {
      if other === self { return copy }
      if other.origin === self, let common = copy.origin { return common }
    }
    if isRead { return self }
    guard let origin else { return moved(to: references, source) }
    var common: StoredColumn?
    if other === origin { common = copy }
    if other?.origin === origin { common = copy?.origin }
    let result = StoredColumn(edits, to: common ?? origin.unread(beside: nil, nil))
    result.loaded.store(loaded)
    return result
  }
}
