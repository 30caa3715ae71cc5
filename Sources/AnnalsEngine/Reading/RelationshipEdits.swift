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
    return ListEdit.list(in: cell.bytes(in: arena)).map {
      Edit(position: Int($0.position), object: $0.reference)
    }
  }
}
