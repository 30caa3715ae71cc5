import AnnalsModel
import AnnalsState

// What migrations need besides what any write does: names that the program no longer declares, and
// definitions that change. Any write may use it.

extension WriteTransaction {
  /// The value of a property by the name that it has in the store, whether or not the program
  /// declares it; null if it has none.
  ///
  /// Throws `.noSuchObject` if the object does not exist, `.invalidArgument` if the entity has no
  /// property of this name.
  public func value(of id: ObjectID, _ property: String) throws(AnnalsError) -> Value {
    let entity = try existing(id)
    let number = try draft.property(property, of: entity)
    let reader = reader
    guard let readable = entity.readableProperties.first(where: { $0.number == number }) else {
      return .null
    }
    return try reader.value(of: readable) { try reader.state.value(id.entity, id.row, number) }
  }

  /// Renames an attribute or a relationship, now, whatever edits were made before. A property that
  /// has the new name, and no value in any object, gives way: one that the program declares, and
  /// that was added for it.
  ///
  /// Throws `.invalidArgument` if there is no property of the old name, `.invalidSchema` if the new
  /// one is in use or invalid; then nothing has changed.
  public func rename(
    _ entity: String, _ property: String, to new: String
  ) throws(AnnalsError) {
    try draft.make(.renameProperty(entity: entity, property, to: new))
  }

  /// Renames an entity, now. Throws as the renaming of a property does.
  public func rename(entity: String, to new: String) throws(AnnalsError) {
    try draft.make(.renameEntity(entity, to: new))
  }

  /// Removes an attribute or a relationship, now, whatever edits were made before: clears its
  /// values and drops the indexes over it. Past states have it.
  ///
  /// Throws `.invalidArgument` if there is none of this name; then nothing has changed.
  public func remove(_ entity: String, _ property: String) throws(AnnalsError) {
    try draft.make(.removeProperty(entity: entity, property))
  }

  /// Removes an entity, now, and deletes its objects. Past states have them.
  ///
  /// Throws `.invalidArgument` if there is none of this name, `.invalidSchema` if a relationship
  /// leads to it; then nothing has changed.
  public func remove(entity: String) throws(AnnalsError) {
    try draft.make(.removeEntity(entity))
  }

  /// Changes the type of a property: puts a new one of the same name in its place, with a value
  /// that the closure makes of the old one of each object.
  ///
  ///     try tx.convert("Note", "pages", to: .string) { old in .string("\(old)") }
  ///
  /// The old values are cleared, as changes of the transaction; history, blame and past states have
  /// them by the old definition. The closure is given null for no value, and returns nil for none.
  /// It may read and write by the transaction, but must not change the schema.
  ///
  /// - Parameters:
  ///   - entity: the name of the entity.
  ///   - property: the name of the attribute or relationship.
  ///   - type: the new type; nil for what the program declares, which may be a relationship. The
  ///     other rules are those that the program declares for an attribute of this type; without
  ///     any, it is optional.
  ///   - newValue: the new value for an old one.
  /// - Throws: `.invalidArgument` for unknown names, `.invalidSchema` for an impossible definition,
  ///   and what the closure throws; then nothing has changed. A value of another type, or none
  ///   where one is required, fails the transaction at its end, with every such object. O(objects)
  ///   time; memory: the new values.
  public func convert(
    _ entity: String, _ property: String, to type: AttributeType? = nil,
    _ newValue: (_ old: Value) throws -> Value?
  ) throws {
    let definition = try definition(of: property, entity, as: type)
    try convert(entity, property, to: definition) { _, value in try newValue(value) }
  }

  /// The definition of a property that is to get a type, or that the program declares.
  private func definition(
    of property: String, _ entity: String, as type: AttributeType?
  ) throws(AnnalsError) -> Entity {
    let known = declared.entity(named: entity)
    if let attribute = known?.attribute(named: property), type == nil || type == attribute.type {
      return Entity(entity, attributes: [attribute])
    }
    if let type { return Entity(entity, attributes: [Attribute(property, type)]) }
    guard var relationship = known?.relationship(named: property) else {
      throw AnnalsError(
        .invalidArgument,
        "\(entity).\(property) cannot be converted, as the program does not declare it; say to "
          + "which type")
    }
    relationship.destinationName = declared.destinationName(of: relationship)
    return Entity(entity, relationships: [relationship])
  }

  /// As the public form, with a definition of the new property alone.
  package func convert(
    _ entity: String, _ property: String, to definition: Entity,
    _ newValue: (ObjectReference, Value) throws -> Value?
  ) throws {
    checkOpen()
    let given = content
    do {
      let replaced = try draft.replace(property, of: entity, by: definition)
      var progress = ObjectProgress(
        draft.progress, .converting, "\(entity).\(property)",
        of: draft.base.count(of: replaced.entity.number))
      // The closure may use the transaction, so nothing else uses it meanwhile.
      try replaced.forEachValue { object, old in
        try progress.add()
        let new = old.isErased ? old : try newValue(object, old) ?? .null
        guard try draft.exists(object) else { return }
        try draft.put(converted: new, of: object, replaced)
      }
    } catch {
      content = given
      throw error
    }
  }
}
