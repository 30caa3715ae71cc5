import AnnalsModel

/// One object read from a snapshot or a transaction, for programs that learn the schema at run
/// time.
///
/// Complete: reading its values never touches the disk.
/// Prints as `Account/a1 balance 1000000, owner "Ann"`.
public struct DynamicObject: Sendable, Identifiable, CustomStringConvertible {
  /// The object's identity.
  public let objectID: ObjectID
  /// The object's entity, as defined in the state that it was read from.
  public let entity: Entity
  /// The values that are not null, by rising property number.
  package let values: [(property: PropertyNumber, value: Value)]

  package init(
    objectID: ObjectID, entity: Entity, values: [(property: PropertyNumber, value: Value)]
  ) {
    self.objectID = objectID
    self.entity = entity
    self.values = values
  }

  /// The same as `objectID`.
  public var id: ObjectID { objectID }

  /// The value of the named attribute or relationship; null if it has none, or if no such property
  /// exists.
  public subscript(name: String) -> Value {
    guard let number = entity.propertyNumber(named: name) else { return .null }
    return self[number]
  }

  /// The value of the property with this number; null if it has none.
  package subscript(number: PropertyNumber) -> Value {
    values.first { $0.property == number }?.value ?? .null
  }

  /// The object's name and its other values that are not null, on one line: `Account/a1 balance
  /// 1000000`. Long texts are cut.
  public var description: String {
    let keyAttribute = entity.keyAttribute?.number
    let key = keyAttribute.flatMap { self[$0].keyText }
    let name = key.map { "\(entity.name)/\($0)" } ?? "\(entity.name)#\(objectID.row)"
    let parts = values.compactMap { property, value -> String? in
      if key != nil, property == keyAttribute { return nil }
      return entity.propertyName(property).map { "\($0) \(value.shortDescription)" }
    }
    return parts.isEmpty ? name : "\(name) \(parts.joined(separator: ", "))"
  }

  /// The values that are not null, by property name.
  public var dictionary: [String: Value] {
    var result: [String: Value] = [:]
    for (property, value) in values {
      if let name = entity.propertyName(property) { result[name] = value }
    }
    return result
  }
}
