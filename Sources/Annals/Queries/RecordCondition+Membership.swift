import AnnalsModel

// Conditions on the objects of to-many relationships.

extension RecordCondition {
  /// The to-many relationship lists the object, also if that was deleted: `.contains(\.tags, tag)`.
  public static func contains<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, _ object: Object<T>
  ) -> RecordCondition { contains(keyPath, id: object.objectID) }

  /// The to-many relationship has this reference, also if the object was deleted.
  public static func contains<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, _ reference: Reference<T>
  ) -> RecordCondition { contains(keyPath, id: reference.objectID) }

  /// The to-many relationship has this id, also if the object was deleted.
  public static func contains(
    _ keyPath: KeyPath<R, [ObjectID]>, _ id: ObjectID
  ) -> RecordCondition { contains(keyPath, id: id) }

  /// At least one object that the to-many relationship leads to meets the condition:
  /// `.any(\.tags, \.name == "food")`. References to deleted objects do not count.
  public static func any<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, _ condition: RecordCondition<T>
  ) -> RecordCondition {
    RecordCondition(
      .any(PropertyPath(R.entity.propertyName(of: keyPath)), condition.condition),
      stores: condition.stores)
  }

  private static func contains(_ keyPath: PartialKeyPath<R>, id: ObjectID) -> RecordCondition {
    RecordCondition(
      .contains(PropertyPath(R.entity.propertyName(of: keyPath)), ObjectReference(id)),
      stores: [id.store])
  }
}
