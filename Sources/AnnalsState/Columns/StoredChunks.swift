import AnnalsFormat
import AnnalsModel
import Synchronization

// A chunk of a checkpoint is read when first touched, into a box shared by all states that refer to
// it: stored once, atomically, by whichever thread is first. A chunk that fails its check is read
// again each time, and throws each time.

/// Reads the bytes of chunks.
package protocol ChunkSource: Sendable {
  /// The chunk's payload, whose length and checksum are those of the reference. Called from any
  /// thread.
  func chunk(_ reference: ChunkReference) throws(StateFault) -> ContiguousArray<UInt8>
}

extension ChunkSource {
  /// The chunk, decoded; a fault of the decoder becomes one that names the chunk.
  func decode<Decoded>(
    _ reference: ChunkReference,
    _ decoder: (UnsafeRawBufferPointer) throws(DecodeFault) -> Decoded
  ) throws(StateFault) -> Decoded {
    let payload = try chunk(reference)
    do throws(DecodeFault) {
      return try payload.withBytes(decoder)
    } catch {
      throw .chunk(.decode(error), at: reference.offset)
    }
  }

  /// The fault of a chunk that is not what its reference says.
  func mismatch(_ reference: ChunkReference) -> StateFault {
    .chunk(.mismatch, at: reference.offset)
  }
}

/// An object that is created once, by whichever thread is first, and lives as long as the box.
///
/// Unlike `AtomicLazyReference` it allows use of the object without counting a reference, which
/// would cost more than the rest of reading a stored value.
final class Once<Object: AnyObject & Sendable>: Sendable {
  private let object = Atomic<Unmanaged<Object>?>(nil)

  deinit {
    object.load(ordering: .acquiring)?.release()
  }

  /// The object, if it is there; valid as long as the box.
  @inline(__always)
  var unretained: Unmanaged<Object>? { object.load(ordering: .acquiring) }

  /// The object, if it is there.
  var value: Object? { unretained?.takeUnretainedValue() }

  /// Stores the object if none is there, and returns the one that is then.
  func storeIfNil(_ new: Object) -> Object {
    let retained = Unmanaged.passRetained(new)
    let (isStored, old) = object.compareExchange(
      expected: nil, desired: retained, ordering: .acquiringAndReleasing)
    if isStored { return new }
    retained.release()
    return old?.takeUnretainedValue() ?? new
  }
}

/// A column of a group as a checkpoint stores it, and its leaves once they are read.
final class StoredColumn: Sendable {
  /// The chunks, in the order of their rows: one, or more if the values are very long.
  let references: [ChunkReference]
  let source: any ChunkSource
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
    self.entity = entity
    self.column = column
    self.group = group
    if let leaves { _ = loaded.storeIfNil(Leaves(leaves)) }
  }

  /// These chunks and another behind them.
  func adding(_ reference: ChunkReference) -> StoredColumn {
    StoredColumn(
      references + [reference], source: source, entity: entity, column: column, group: group)
  }

  /// The same column with nothing read yet; this one if it was read already.
  var unread: StoredColumn {
    if loaded.unretained != nil { return self }
    return StoredColumn(references, source: source, entity: entity, column: column, group: group)
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
    return loaded.storeIfNil(Leaves(leaves)).leaves
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

/// The bits of a group's live rows as a checkpoint stores them, once they are read.
final class StoredRows: Sendable {
  let reference: ChunkReference
  let source: any ChunkSource
  private let entity: EntityNumber
  private let loaded = Once<Words>()

  private final class Words: Sendable {
    let words: ContiguousArray<UInt64>
    init(_ words: ContiguousArray<UInt64>) { self.words = words }
  }

  init(
    _ reference: ChunkReference, source: any ChunkSource, entity: EntityNumber,
    words: ContiguousArray<UInt64>? = nil
  ) {
    self.reference = reference
    self.source = source
    self.entity = entity
    if let words { _ = loaded.storeIfNil(Words(words)) }
  }

  /// The bits, if they were read.
  var wordsIfLoaded: ContiguousArray<UInt64>? { loaded.value?.words }

  /// The bits; read now if they were not.
  func words() throws(StateFault) -> ContiguousArray<UInt64> {
    if let loaded = loaded.value { return loaded.words }
    let (header, rows) = try source.decode(reference) {
      bytes throws(DecodeFault) in try RowsChunkCodec.decode(bytes)
    }
    guard header.entity == entity, header.firstRow == reference.first,
      header.count == Int(reference.count)
    else { throw source.mismatch(reference) }
    return loaded.storeIfNil(Words(rows.words)).words
  }
}
