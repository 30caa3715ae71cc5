import AnnalsModel
import AnnalsState

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
