import AnnalsModel

/// The edits of a to-many relationship by one update.
public struct RelationshipEdits: Sendable, Hashable {
  /// One object removed or inserted, and its position.
  public struct Edit: Sendable, Hashable {
    /// The position, from 0. For a removal in the list before; for an insertion in the list after.
    public var position: Int
    /// The object.
    public var object: ObjectReference
  }

  /// The removed objects, by rising position.
  public var removed: [Edit]
  /// The inserted objects, by rising position.
  public var inserted: [Edit]

  /// Creates edits from their parts.
  package init(removed: [Edit] = [], inserted: [Edit] = []) {
    self.removed = removed
    self.inserted = inserted
  }

  /// Decodes the edits from a cell of a record.
  package static func list(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) -> [Edit] {
    guard cell.usesArena else { return [] }
    let bytes = UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
    return (0..<bytes.count / PropertyChange.editByteCount).map { index in
      let offset = index * PropertyChange.editByteCount
      let position = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return Edit(
        position: Int(UInt32(littleEndian: position)),
        object: ObjectReference(bytes: bytes, at: offset + 4))
    }
  }
}
