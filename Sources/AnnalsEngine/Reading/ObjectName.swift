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
  package var keyText: String? { key.keyText }

  /// `Entity/KEY` or `Entity#ROW`.
  package var text: String { keyText.map { "\(entity)/\($0)" } ?? "\(entity)#\(row)" }
}

extension ObjectName {
  /// The key, or `#ROW` without one.
  package var shortText: String { keyText ?? "#\(row)" }
}

extension StateReader {
  /// Whether the object exists in this state.
  package func exists(_ object: ObjectReference) throws(AnnalsError) -> Bool {
    try state.holds(object)
  }

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
    try AnnalsError.translating {
      let stored = try state.value(object.entity, object.row, attribute.number)
      guard stored.isNull, !attribute.isOptional, let value = attribute.defaultValue else {
        return stored
      }
      return try state.contains(object.entity, object.row) ? value : .null
    }
  }
}

extension State {
  /// Whether an object exists.
  func holds(_ object: ObjectReference) throws(AnnalsError) -> Bool {
    try AnnalsError.translating { try contains(object.entity, object.row) }
  }

  /// The stored value of a property.
  func value(
    of object: ObjectReference, _ property: PropertyNumber
  ) throws(AnnalsError) -> Value {
    try AnnalsError.translating { try value(object.entity, object.row, property) }
  }

  /// The value of a property; nil if the object does not exist, or there is no property.
  func valueIfThere(
    _ object: ObjectReference, _ property: PropertyNumber?
  ) throws(AnnalsError) -> Value? {
    guard let property, try holds(object) else { return nil }
    return try value(of: object, property)
  }

  /// The object's key as text; nil if it has none, does not exist, or cannot be read.
  package func keyText(of object: ObjectReference) -> String? {
    guard let entity = schema.entity(numbered: object.entity), let attribute = entity.keyAttribute,
      (try? contains(object.entity, object.row)) == true,
      let stored = try? value(object.entity, object.row, attribute.number)
    else { return nil }
    if stored.isNull, !attribute.isOptional { return attribute.defaultValue?.keyText }
    return stored.keyText
  }
}

extension Schema {
  /// `Entity/KEY` or `Entity#ROW`.
  package func nameText(of object: ObjectReference, key: String?) -> String {
    let name = entity(numbered: object.entity)?.name ?? "#\(object.entity)"
    return key.map { "\(name)/\($0)" } ?? "\(name)#\(object.row)"
  }
}
