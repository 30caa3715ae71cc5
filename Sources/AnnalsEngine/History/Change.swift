import AnnalsModel
import AnnalsState

/// What a transaction did to one object: the properties it touched, with their before- and
/// after-images.
public struct Change: Sendable {
  @usableFromInline package let page: TransactionPage
  @usableFromInline package let transaction: Int
  @usableFromInline package let index: Int

  @inlinable
  package init(page: TransactionPage, transaction: Int, index: Int) {
    self.page = page
    self.transaction = transaction
    self.index = index
  }

  package var entry: ChangeEntry { page.batch.changes[index] }

  /// Whether the object was inserted, updated or deleted.
  public var kind: ChangeKind { page.batch.changes[index].kind }

  /// The object.
  public var objectID: ObjectID {
    let entry = page.batch.changes[index]
    return ObjectID(store: page.glossary.store, entity: entry.entity, row: entry.row)
  }

  /// The number of the transaction.
  public var transactionNumber: Int64 { page.batch.transactions[transaction].number }

  /// The schema just after the transaction.
  public var schema: Schema { page.glossary.schema(asOf: transactionNumber) }

  /// The object's entity, as defined just after the transaction.
  public var entity: Entity {
    let number = page.batch.changes[index].entity
    return schema.entity(numbered: number) ?? page.glossary.schema.entity(numbered: number)
      ?? Entity("#\(number)")
  }

  /// The name of the object's entity at that time.
  public var entityName: String { entity.name }

  /// The changed properties. For an insert or delete, those that had a value.
  public var properties: Properties { Properties(self) }

  /// The names of the changed properties.
  public var changedProperties: [String] { properties.map(\.name) }

  /// The before-image of the named property: its value before the transaction. Null if it had none,
  /// if the property did not change, or for a to-many relationship in an update (see `edits`).
  public func before(_ name: String) -> Value { value(named: name, \.before) }

  /// The after-image of the named property: its value after the transaction. Null in the same cases
  /// as `before`.
  public func after(_ name: String) -> Value { value(named: name, \.after) }

  /// The edits of the named to-many relationship by an update; empty for other properties and
  /// changes.
  public func edits(_ name: String) -> RelationshipEdits {
    (difference(named: name) ?? removedDifference(named: name))?.edits ?? RelationshipEdits()
  }

  /// For a delete, the values of the attributes that are preserved after deletion; otherwise nil.
  public var tombstone: [String: Value]? {
    guard kind == .delete else { return nil }
    let entity = entity
    var result: [String: Value] = [:]
    for difference in properties
    where entity.attribute(named: difference.name)?.isPreservedAfterDeletion == true {
      result[difference.name] = difference.before
    }
    return result
  }

  /// Whether the change touched the property with this number.
  package func touches(_ property: PropertyNumber) -> Bool {
    page.batch.changes[index].propertyRange.contains {
      page.batch.properties[$0].property == property
    }
  }

  /// The difference in the property with this number; nil if the change did not touch it.
  package func difference(of property: PropertyNumber) -> PropertyDifference? {
    properties.first(of: property)
  }

  /// The value of the named property before or after the change. Two may have the name, one of
  /// which was removed: then one of them has no value.
  private func value(
    named name: String, _ side: (PropertyDifference) -> Value
  ) -> Value {
    let value = removedDifference(named: name).map(side) ?? .null
    return value.isNull ? difference(named: name).map(side) ?? .null : value
  }

  private func difference(named name: String) -> PropertyDifference? {
    let entity = entity
    let now = page.glossary.schema.entity(numbered: page.batch.changes[index].entity)
    guard
      let number = entity.propertyNumber(named: name) ?? now?.propertyNumber(named: name)
    else { return nil }
    return difference(of: number)
  }

  /// The difference in a property of this name that was removed: its value was cleared, perhaps
  /// while another property got the name. Nil for most changes.
  private func removedDifference(named name: String) -> PropertyDifference? {
    for number in entity.removedProperties(named: name) {
      if let difference = difference(of: number) { return difference }
    }
    return nil
  }
}

extension Change {
  /// The name of the changed object: from before an update or delete, from after an insert. `state`
  /// is that just after the transaction; it is called only if the change does not contain the key.
  package func objectName(
    _ state: () throws(AnnalsError) -> StateReader
  ) throws(AnnalsError) -> ObjectName {
    let entity = entity
    var name = ObjectName(entity: entity.name, key: .null, row: entry.row)
    guard let attribute = entity.keyAttribute else { return name }
    let object = ObjectReference(entity: entry.entity, row: entry.row)
    if let difference = difference(of: attribute.number) {
      name.key = kind == .insert ? difference.after : difference.before
    } else if kind == .update {
      name.key = try state().value(of: object, attribute)
    }
    if name.key.isErased {
      name.key = .null
    } else if name.key.isNull, !attribute.isOptional {
      name.key = attribute.defaultValue ?? .null
    }
    return name
  }

  /// The value printed beside the name: of the entity's display attribute, as inserted or deleted;
  /// null for an update, and if there is none.
  package var displayValue: Value {
    let entity = entity
    guard kind != .update, let display = entity.displayName,
      let number = entity.propertyNumber(named: display), let difference = difference(of: number)
    else { return .null }
    return kind == .insert ? difference.after : difference.before
  }
}

extension PropertyConflict {
  /// The conflict over the object of a change, or over one of its properties, with the later change
  /// that touched it. Names the object by its key in `state`, or by the key it had when it was
  /// deleted.
  init(_ change: Change, _ property: PropertyNumber?, named state: State, with later: Change?) {
    let entity = change.entity
    let object = ObjectReference(entity: change.entry.entity, row: change.entry.row)
    var key = state.keyText(of: object)
    for change in [change, later] {
      guard key == nil, let change, change.kind == .delete else { continue }
      key = change.entity.keyAttribute.flatMap { change.difference(of: $0.number)?.before.keyText }
    }
    self.init(
      object: change.objectID, objectName: state.schema.nameText(of: object, key: key),
      property: property.map { entity.propertyName($0) ?? "#\($0)" },
      changedBy: later?.transactionNumber, isDeletion: later?.kind == .delete)
  }
}
