import AnnalsEngine
import AnnalsModel

// Migrations by record types.

extension WriteTransaction {
  /// The value of a property by the name that it has in the store, whether or not the record type
  /// has it; null if it has none. Throws as `value(of:_:)` by id does.
  public func value<R: Record>(
    of object: Object<R>, _ property: String
  ) throws(AnnalsError) -> Value {
    try value(of: object.objectID, property)
  }

  /// Changes a property of the store to the type that the record has it by: puts a new one in its
  /// place, with a value that the closure makes of the old one of each object.
  ///
  ///     try tx.convert(\Note.when) { (old: String) in try? Date(old, strategy: .iso8601) }
  ///
  /// The old values are cleared, as changes of the transaction; history, blame and past states have
  /// them by the old definition. The closure is not called for objects without a value, which get
  /// none, unless its argument is an optional. It returns nil for no value, and may read and write
  /// by the transaction.
  ///
  /// Throws `.invalidArgument` if the store has no such property, `.invalidSchema` for an
  /// impossible definition, `.unreadableRecord` if an old value does not fit the closure's
  /// argument, and what the closure throws; then nothing has changed. A value that breaks a rule,
  /// or none where one is required, fails the transaction at its end, with every such object.
  /// O(objects) time; memory: the new values.
  public func convert<R: Record, Old: AttributeValue, New: AttributeValue>(
    _ keyPath: KeyPath<R, New>, _ newValue: (_ old: Old) throws -> New?
  ) throws {
    let binding = try binding(of: R.self)
    let name = binding.layout.names[binding.position(of: keyPath)]
    let declared = R.entity.schemaEntity
    var definition = Entity(declared.name)
    definition.attributes = declared.attributes.filter { $0.name.hasSameBytes(as: name) }
    definition.relationships = declared.relationships.filter { $0.name.hasSameBytes(as: name) }
    let isToOne = definition.relationships.first?.isToMany == false
    try convert(declared.name, name, to: definition) { object, stored in
      guard let old = try self.old(stored, as: Old.self, of: object, declared.name, name) else {
        return nil
      }
      guard let new = try newValue(old) else { return nil }
      let value = Value.whole(new)
      return isToOne ? value.targets.first.map(Value.object) : value
    }
  }

  /// The stored value as the closure takes it; nil if there is none, and it takes none.
  private func old<V: AttributeValue>(
    _ stored: Value, as type: V.Type, of object: ObjectReference, _ entity: String, _ name: String
  ) throws(AnnalsError) -> V? {
    if V._isRelationship {
      let objects = stored.targets.map {
        ObjectID(store: reader.store, entity: $0.entity, row: $0.row)
      }
      return V._read(objects)
    }
    if stored.isNull, !V._isOptional { return nil }
    if let value = stored.decoded(as: V.self) { return value }
    let place = (try? reader.name(of: object).text) ?? "\(entity)#\(object.row)"
    throw AnnalsError(
      .unreadableRecord,
      "\(place).\(name) is \(stored.shortDescription) (\(stored.tag)), which is no \(type)")
  }
}
