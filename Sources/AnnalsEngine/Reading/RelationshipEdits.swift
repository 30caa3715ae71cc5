import AnnalsModel

/// What an update did to a to-many relationship.
public struct RelationshipEdits: Sendable, Hashable {
  /// One object taken out or put in, and where.
  public struct Edit: Sendable, Hashable {
    /// The position, from 0: of a removal in the list before, of an insertion in the list after.
    public var position: Int
    /// The object.
    public var object: ObjectReference
  }

  /// The objects taken out, positions rising.
  public var removed: [Edit]
  /// The objects put in, positions rising.
  public var inserted: [Edit]

  /// These edits.
  package init(removed: [Edit] = [], inserted: [Edit] = []) {
    self.removed = removed
    self.inserted = inserted
  }

  /// The edits that a cell of a record holds.
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
