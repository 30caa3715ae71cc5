import AnnalsModel

// Conditions on the objects of to-many relationships and inverses.

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

  /// All objects that the to-many relationship leads to meet the condition, also if there are none.
  public static func every<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, _ condition: RecordCondition<T>
  ) -> RecordCondition { !any(keyPath, !condition) }

  /// No object that the to-many relationship leads to meets the condition.
  public static func none<T: Record>(
    _ keyPath: KeyPath<R, [Reference<T>]>, _ condition: RecordCondition<T>
  ) -> RecordCondition { !any(keyPath, condition) }

  /// At least one object that refers to this one meets the condition:
  /// `.any(\.events, \.title == "Fog")`.
  public static func any<S: Record>(
    _ inverse: InversePath<S, R>, _ condition: RecordCondition<S>
  ) -> RecordCondition {
    RecordCondition(
      .any(PropertyPath(R.self[keyPath: inverse].pathName), condition.condition),
      stores: condition.stores)
  }

  /// All objects that refer to this one meet the condition, also if there are none.
  public static func every<S: Record>(
    _ inverse: InversePath<S, R>, _ condition: RecordCondition<S>
  ) -> RecordCondition { !any(inverse, !condition) }

  /// No object that refers to this one meets the condition.
  public static func none<S: Record>(
    _ inverse: InversePath<S, R>, _ condition: RecordCondition<S>
  ) -> RecordCondition { !any(inverse, condition) }

  private static func contains(_ keyPath: PartialKeyPath<R>, id: ObjectID) -> RecordCondition {
    RecordCondition(
      .contains(PropertyPath(R.entity.propertyName(of: keyPath)), ObjectReference(id)),
      stores: [id.store])
  }
}
