import AnnalsEngine
import AnnalsModel

extension HistoryCondition {
  /// Matches changes to objects of the record type.
  public static func touches<R: Record>(_ type: R.Type) -> HistoryCondition {
    .touches(R.entity.name)
  }

  /// Matches changes to a property of a record type.
  public static func touches<R: Record, V>(_ keyPath: KeyPath<R, V>) -> HistoryCondition {
    .touches(R.entity.name, R.entity.propertyName(of: keyPath))
  }
}

extension Change {
  /// The change as one of a record type's object; nil if the object belongs to another entity.
  ///
  /// Finds properties by their stable numbers, so renamed ones are found in the past.
  public func `as`<R: Record>(_ type: R.Type) -> RecordChange<R>? {
    guard let binding = try? page.glossary.records.binding(of: type),
      binding.entity == entry.entity
    else { return nil }
    return RecordChange(change: self, binding: binding)
  }

  /// The before-image of a property: its value before the transaction. Nil if it had none, or did
  /// not change.
  ///
  /// Throws if the value does not fit the property's type, or if a large value cannot be read from
  /// the file.
  public func before<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>
  ) throws(AnnalsError) -> V? {
    try self.as(R.self)?.before(keyPath)
  }

  /// The after-image of a property: its value after the transaction. Otherwise as `before`.
  public func after<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>
  ) throws(AnnalsError) -> V? {
    try self.as(R.self)?.after(keyPath)
  }

  /// As the other form, for an optional property.
  public func before<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V?>
  ) throws(AnnalsError) -> V? where V?: AttributeValue {
    try self.as(R.self)?.before(keyPath) ?? nil
  }

  /// As the other form, for an optional property.
  public func after<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V?>
  ) throws(AnnalsError) -> V? where V?: AttributeValue {
    try self.as(R.self)?.after(keyPath) ?? nil
  }
}

/// A change of one object of a record type.
public struct RecordChange<R: Record>: Sendable {
  /// The untyped change.
  public let change: Change
  let binding: RecordBinding<R>

  /// Whether the object was inserted, updated or deleted.
  public var kind: ChangeKind { change.kind }

  /// The object.
  public var objectID: ObjectID { change.objectID }

  /// Whether the change touched the property.
  public func touches<V>(_ keyPath: KeyPath<R, V>) -> Bool {
    binding.property(keyPath).map { change.touches($0) } ?? false
  }

  /// The before-image of a property; nil if the change did not touch it.
  public func before<V: AttributeValue>(_ keyPath: KeyPath<R, V>) throws(AnnalsError) -> V? {
    try value(of: keyPath, isBefore: true)
  }

  /// The after-image of a property; nil if the change did not touch it.
  public func after<V: AttributeValue>(_ keyPath: KeyPath<R, V>) throws(AnnalsError) -> V? {
    try value(of: keyPath, isBefore: false)
  }

  private func value<V: AttributeValue>(
    of keyPath: KeyPath<R, V>, isBefore: Bool
  ) throws(AnnalsError) -> V? {
    guard let property = binding.property(keyPath) else { return nil }
    let batch = change.page.batch
    for position in change.entry.propertyRange where batch.properties[position].property == property
    {
      let found = batch.properties[position]
      if found.isEdits { return nil }
      // Before an insert and after a delete there is no value, not even a default.
      if change.kind == (isBefore ? .insert : .delete) { return nil }
      let glossary = change.page.glossary
      let row = change.entry.row
      return try batch.arena.withBytes { arena throws(AnnalsError) in
        try binding.value(
          of: keyPath, row: row, isBefore ? found.before : found.after, in: arena,
          store: glossary.store, largeValues: glossary.largeValues)
      }
    }
    return nil
  }
}
