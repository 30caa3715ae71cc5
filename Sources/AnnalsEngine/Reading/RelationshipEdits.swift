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

  /// One object that is in both lists, at another place among those that stay.
  public struct Move: Sendable, Hashable {
    /// The object.
    public var object: ObjectReference
    /// Its position in the list before, from 0.
    public var from: Int
    /// Its position in the list after.
    public var to: Int
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

  /// The objects that were moved: those both removed and inserted, by rising new position.
  /// O(number of edits).
  public var moved: [Move] { parts.moved }

  /// The moves, and what is left of the edits without them. Of an object that is listed several
  /// times, the first removal and the first insertion are a move.
  package var parts: (moved: [Move], removed: [Edit], inserted: [Edit]) {
    if removed.isEmpty || inserted.isEmpty { return ([], removed, inserted) }
    var sources: [ObjectReference: [Int]] = [:]
    for edit in removed.reversed() { sources[edit.object, default: []].append(edit.position) }
    var moved: [Move] = []
    var new: [Edit] = []
    var left: Set<Int> = []
    for edit in inserted {
      if let source = sources[edit.object]?.popLast() {
        moved.append(Move(object: edit.object, from: source, to: edit.position))
        left.insert(source)
      } else {
        new.append(edit)
      }
    }
    if moved.isEmpty { return ([], removed, inserted) }
    return (moved, removed.filter { !left.contains($0.position) }, new)
  }

  /// Decodes the edits from a cell of a record.
  package static func list(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) -> [Edit] {
    guard cell.usesArena else { return [] }
    return ListEdit.list(in: cell.bytes(in: arena)).map {
      Edit(position: Int($0.position), object: $0.reference)
    }
  }
}
