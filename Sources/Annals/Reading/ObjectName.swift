import AnnalsEngine
import AnnalsModel
import AnnalsState

// How objects are named for people: `Entity/KEY`, or `Entity#ROW` for an object without a key. The
// key is the value of the unique attribute named `id`, or of the first unique one.

/// The name of one object.
package struct ObjectName: Sendable, Hashable {
  package var entity: String
  /// The key's value; null for an object without one.
  package var key: Value
  package var row: Int64

  package init(entity: String, key: Value, row: Int64) {
    self.entity = entity
    // An erased key names nothing.
    self.key = key.isErased ? .null : key
    self.row = row
  }

  /// The key as text; nil for an object without one.
  package var keyText: String? { key.isNull ? nil : key.plainText }

  /// `Entity/KEY` or `Entity#ROW`.
  package var text: String { keyText.map { "\(entity)/\($0)" } ?? "\(entity)#\(row)" }
}

extension StateReader {
  /// The value of the object's key in this state; null if it has none or does not exist.
  package func key(of object: ObjectReference) throws(AnnalsError) -> Value {
    guard let attribute = state.schema.entity(numbered: object.entity)?.keyAttribute else {
      return .null
    }
    let key = try value(of: object, attribute)
    return key.isErased ? .null : key
  }

  /// The name of the object in this state.
  package func name(of object: ObjectReference) throws(AnnalsError) -> ObjectName {
    let entity = state.schema.entity(numbered: object.entity)?.name ?? "#\(object.entity)"
    return ObjectName(entity: entity, key: try key(of: object), row: object.row)
  }

  /// The value of an attribute in this state, with the default for objects older than a required
  /// attribute; a large value without its bytes.
  package func value(
    of object: ObjectReference, _ attribute: Attribute
  ) throws(AnnalsError) -> Value {
    do throws(StateFault) {
      let stored = try state.value(object.entity, object.row, attribute.number)
      guard stored.isNull, !attribute.isOptional, let value = attribute.defaultValue else {
        return stored
      }
      return try state.contains(object.entity, object.row) ? value : .null
    } catch {
      throw AnnalsError(error)
    }
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
