import AnnalsEngine
import AnnalsModel
import AnnalsState

extension ObjectSource {
  /// The bytes of the named property of an object, none of which is read yet: its length, any range
  /// of it, or all of it piece by piece, in constant memory however long it is.
  ///
  ///     if let image = try snapshot.bytes("image", of: id) {
  ///       print(image.count, try image.read(0..<16))
  ///       try image.forEachPiece { output.write($0) }
  ///     }
  ///
  /// Nil if the property has no value in this state, or the object does not exist. Throws
  /// `.invalidArgument` if there is no such attribute, or its value has no bytes; `.erased` if it
  /// was erased; `.otherStore` if the object is one of another store.
  public func bytes(_ property: String, of id: ObjectID) throws(AnnalsError) -> StoredBytes? {
    let reader = try _dynamicQuery.reader
    guard let entity = reader.state.schema.entity(numbered: id.entity), !entity.isRemoved else {
      return nil
    }
    guard let attribute = entity.attribute(named: property) else {
      let near = NearName.hint(property, among: entity.readableProperties.map(\.name))
      throw AnnalsError(.invalidArgument, "\(entity.name) has no attribute \(property)\(near)")
    }
    return try reader.bytes(of: attribute, id)
  }

  /// As the other form, for a property of a record type:
  /// `try snapshot.bytes(\Photo.image, of: id)`. Nil also if this state does not have it yet.
  public func bytes<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of id: ObjectID
  ) throws(AnnalsError) -> StoredBytes? {
    let query = try _query(R.self)
    guard id.entity == query.binding.entity, let number = query.binding.property(keyPath),
      let entity = query.reader.state.schema.entity(numbered: id.entity),
      let attribute = entity.attribute(numbered: number)
    else { return nil }
    return try query.reader.bytes(of: attribute, id)
  }

  /// As the other form, of an object that was read.
  public func bytes<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of object: Object<R>
  ) throws(AnnalsError) -> StoredBytes? {
    try bytes(keyPath, of: object.objectID)
  }
}

extension WriteTransaction {
  /// Sets a property of a record type to the bytes of an input, as the form with a name does:
  /// `try tx.set(\Photo.image, of: id, from: ByteInput(contentsOf: path))`.
  ///
  /// To insert an object with such a value, insert it with an empty one and set it in the same
  /// transaction; the empty one is not recorded. Traps if the record type does not list the
  /// property.
  public func set<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of id: ObjectID, from input: ByteInput
  ) throws {
    let binding = try binding(of: R.self)
    try binding.checkComplete()
    guard id.store == reader.store, id.entity == binding.entity,
      try AnnalsError.translating({ try reader.state.contains(id.entity, id.row) })
    else { throw missing(id) }
    guard let number = binding.property(keyPath),
      let attribute = schema.entity(numbered: id.entity)?.attribute(numbered: number)
    else {
      throw AnnalsError(
        .invalidArgument, "only attributes can be set from an input, and no relationships")
    }
    try set(attribute, of: id, from: input)
  }

  /// As the other form, of an object that was read or inserted.
  public func set<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, of object: Object<R>, from input: ByteInput
  ) throws {
    try set(keyPath, of: object.objectID, from: input)
  }
}

extension RecordChange {
  /// The bytes of a property before the transaction, unread; nil if it had none, or the change did
  /// not touch it. Throws as `Snapshot.bytes(_:of:)` does.
  public func bytesBefore<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>
  ) throws(AnnalsError) -> StoredBytes? {
    try binding.property(keyPath).flatMap { number throws(AnnalsError) in
      try change.bytes(of: number, isBefore: true)
    }
  }

  /// The bytes of a property after the transaction, unread; otherwise as `bytesBefore`.
  public func bytesAfter<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>
  ) throws(AnnalsError) -> StoredBytes? {
    try binding.property(keyPath).flatMap { number throws(AnnalsError) in
      try change.bytes(of: number, isBefore: false)
    }
  }
}
