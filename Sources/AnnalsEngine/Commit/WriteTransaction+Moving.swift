import AnnalsModel

// Moves in ordered to-many relationships. The list is set as a whole; what is recorded is the
// difference: of a move one removal and one insertion of the same reference, however long the list.

extension WriteTransaction {
  /// Moves a reference in an ordered to-many relationship to another position. O(length of the
  /// list).
  ///
  /// - Parameters:
  ///   - relationship: the relationship's name.
  ///   - id: the object that has the list.
  ///   - from: the position of the reference, from 0.
  ///   - to: its position afterwards.
  /// - Throws: `.invalidArgument` if the relationship is not an ordered to-many, or has no such
  ///   positions; `.noSuchObject` if the object does not exist. Then nothing is changed.
  public func move(
    _ relationship: String, of id: ObjectID, from: Int, to: Int
  ) throws(AnnalsError) {
    let found = try ordered(relationship, of: id)
    try move(found, of: id) { list throws(AnnalsError) in
      try list.requirePosition(from, found.name)
      try list.requirePosition(to, found.name)
      list.insert(list.remove(at: from), at: to)
    }
  }

  /// Moves the first reference to an object in an ordered to-many relationship to another position.
  /// Throws as the other form does, and `.invalidArgument` if the list does not have the object.
  public func move(
    _ relationship: String, of id: ObjectID, _ object: ObjectID, to: Int
  ) throws(AnnalsError) {
    let found = try ordered(relationship, of: id)
    let reference = ObjectReference(object)
    let isOwn = object.store == reader.store
    let (schema, store) = (schema, reader.store)
    try move(found, of: id) { list throws(AnnalsError) in
      guard isOwn, let from = list.firstIndex(of: reference) else {
        throw AnnalsError(
          .invalidArgument,
          "\"\(found.name)\" does not have "
            + (isOwn ? schema.nameText(of: reference, key: nil) : "an object of another store")
            + "; only what it has is moved (this is store \(store))")
      }
      try list.requirePosition(to, found.name)
      list.insert(list.remove(at: from), at: to)
    }
  }

  /// Moves several references in an ordered to-many relationship, in their order, to before the one
  /// that is at a position now: what SwiftUI's `onMove` asks for.
  ///
  /// `to` may be the list's count, for its end. Throws as the other forms do.
  package func move(
    _ relationship: String, of id: ObjectID, fromPositions positions: [Int], toOffset to: Int
  ) throws(AnnalsError) {
    let found = try ordered(relationship, of: id)
    try move(found, of: id) { list throws(AnnalsError) in
      for position in positions { try list.requirePosition(position, found.name) }
      if to != list.count { try list.requirePosition(to, found.name) }
      let chosen = Set(positions)
      let moved = positions.map { list[$0] }
      let before = list.indices.prefix(to).filter { !chosen.contains($0) }.map { list[$0] }
      let behind = list.indices.dropFirst(to).filter { !chosen.contains($0) }.map { list[$0] }
      list = before + moved + behind
    }
  }

  /// The ordered to-many relationship of this name of an object that exists.
  private func ordered(
    _ name: String, of id: ObjectID
  ) throws(AnnalsError) -> Relationship {
    guard id.store == reader.store, let entity = schema.entity(numbered: id.entity),
      try draft.exists(ObjectReference(id))
    else { throw missing(id) }
    guard let relationship = entity.relationship(named: name) else {
      throw AnnalsError(
        .invalidArgument, "\(entity.name) has no relationship \"\(name)\" to move objects in")
    }
    guard relationship.isToMany, relationship.isOrdered else {
      throw AnnalsError(
        .invalidArgument,
        "\(entity.name).\(name) is no ordered to-many relationship: its objects have no positions "
          + "to move between")
    }
    return relationship
  }

  private func move(
    _ relationship: Relationship, of id: ObjectID,
    _ change: (inout [ObjectReference]) throws(AnnalsError) -> Void
  ) throws(AnnalsError) {
    let value = try draft.value(ObjectReference(id), relationship.number)
    var list = value.targets
    try change(&list)
    draft.noteAssignment(of: relationship.number, row: id.row, of: id.entity)
    if list == value.targets { return }
    try draft.store(.objects(list), in: relationship.number, row: id.row, of: id.entity)
    draft.touch(id.entity, id.row)
  }
}

extension [ObjectReference] {
  fileprivate func requirePosition(_ position: Int, _ name: String) throws(AnnalsError) {
    guard !indices.contains(position) else { return }
    throw AnnalsError(
      .invalidArgument,
      "\"\(name)\" has \(count) \(count == 1 ? "object" : "objects"), and no position \(position)")
  }
}
