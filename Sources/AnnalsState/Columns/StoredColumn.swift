import AnnalsFormat
import AnnalsModel

// A column of a group that is read when somebody asks for it. It is what a checkpoint stores, or
// what was there before some changes were undone: values put into another column, which is left as
// it is. So a past state costs what happened since, and not the groups in which it happened.

/// A column of a group as a checkpoint stores it, or an edited one, and its leaves once they are
/// read.
///
/// Read from any thread; edited only by the holder of the one reference, before anybody reads it.
final class StoredColumn: @unchecked Sendable {
  /// The chunks, in the order of their rows: one, or more if the values are very long. None of a
  /// column that was edited.
  let references: [ChunkReference]
  let source: any ChunkSource
  /// What the edits are made to; nil for what a checkpoint stores.
  let origin: StoredColumn?
  @exclusivity(unchecked) private var edits = ColumnEdits()
  private let entity: EntityNumber
  private let column: Column
  private let group: Int
  private let loaded = Once<Leaves>()

  private final class Leaves: @unchecked Sendable {
    let leaves: ContiguousArray<Leaf?>
    init(_ leaves: ContiguousArray<Leaf?>) { self.leaves = leaves }

    @inline(__always)
    func unretained(_ leaf: Int) -> Unmanaged<Leaf>? {
      leaves.withUnsafeBytes {
        $0.baseAddress?.load(
          fromByteOffset: leaf &* MemoryLayout<Leaf?>.stride, as: Unmanaged<Leaf>?.self)
      }
    }
  }

  init(
    _ references: [ChunkReference], source: any ChunkSource, entity: EntityNumber,
    column: Column, group: Int, leaves: ContiguousArray<Leaf?>? = nil
  ) {
    self.references = references
    self.source = source
    origin = nil
    self.entity = entity
    self.column = column
    self.group = group
    if let leaves { _ = loaded.storeIfNil(Leaves(leaves)) }
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

  /// These chunks and another behind them.
  func adding(_ reference: ChunkReference) -> StoredColumn {
    StoredColumn(
      references + [reference], source: source, entity: entity, column: column, group: group)
  }

  /// The leaves, if they were read.
  var leavesIfLoaded: ContiguousArray<Leaf?>? { loaded.value?.leaves }

  /// One of the leaves if they were read, without a reference counted: valid as long as this
  /// object.
  @inline(__always)
  func unretainedLeaf(_ leaf: Int) -> (isLoaded: Bool, leaf: Unmanaged<Leaf>?) {
    guard let loaded = loaded.unretained else { return (false, nil) }
    return (true, loaded._withUnsafeGuaranteedRef { $0.unretained(leaf) })
  }

  /// Sixteen leaves; read now if they were not.
  func leaves() throws(StateFault) -> ContiguousArray<Leaf?> {
    if let loaded = loaded.value { return loaded.leaves }
    return loaded.storeIfNil(Leaves(try readLeaves())).leaves
  }

  private func readLeaves() throws(StateFault) -> ContiguousArray<Leaf?> {
    guard let origin else { return try decodeLeaves() }
    var leaves = try origin.leaves()
    guard edits.apply(to: &leaves) else {
      throw .invalid(
        entity: entity, row: RowPosition.firstRow(ofGroup: group),
        reason: "more bytes of values than can be counted")
    }
    return leaves
  }

  private func decodeLeaves() throws(StateFault) -> ContiguousArray<Leaf?> {
    var leaves = ContiguousArray<Leaf?>(repeating: nil, count: RowPosition.leafCount)
    let firstRow = RowPosition.firstRow(ofGroup: group)
    for reference in references {
      let (header, values) = try source.decode(reference) {
        bytes throws(DecodeFault) in try ColumnChunkCodec.decode(bytes)
      }
      let offset = Int(clamping: header.firstRow - firstRow)
      guard header.entity == entity, header.property == column.property,
        header.firstRow == reference.first, header.count == Int(reference.count),
        offset >= 0, offset + values.rows.span <= Int(RowPosition.groupRows), fits(values)
      else { throw source.mismatch(reference) }
      guard Leaf.fill(&leaves, from: offset, with: values) else { throw source.mismatch(reference) }
    }
    return leaves
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
    let isOpen = column.origin != nil && column.loaded.unretained == nil
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
    if let leaves = leavesIfLoaded {
      // Not one edited column behind the other without end.
      let read = StoredColumn(
        [], source: source, entity: entity, column: column, group: group, leaves: leaves)
      return StoredColumn(ColumnEdits(), to: read)
    }
    return edits.count <= StoredColumn.fewEdits ? StoredColumn(edits, to: origin) : nil
  }

  /// The same column with nothing read yet; this one if it was read already. What it has in common
  /// with `other` it has in common with `copy`, which was made of that in this way.
  func unread(beside other: StoredColumn?, _ copy: StoredColumn?) -> StoredColumn {
    if let other, let copy {
      if other === self { return copy }
      if other.origin === self, let common = copy.origin { return common }
    }
    if loaded.unretained != nil { return self }
    guard let origin else {
      return StoredColumn(references, source: source, entity: entity, column: column, group: group)
    }
    var common: StoredColumn?
    if other === origin { common = copy }
    if other?.origin === origin { common = copy?.origin }
    return StoredColumn(edits, to: common ?? origin.unread(beside: nil, nil))
  }
}
