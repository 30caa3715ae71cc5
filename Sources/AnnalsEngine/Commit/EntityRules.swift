import AnnalsModel

/// The rules of an entity's properties, prepared so that properties without rules cost almost
/// nothing to check.
final class EntityRules: Sendable {
  /// How a property is checked.
  enum Check: UInt8, Sendable {
    case none
    /// A double that must be finite.
    case finite
    /// An integer of 16 bits, without further rules.
    case int16
    /// An integer of 32 bits, without further rules.
    case int32
    /// An attribute with rules beyond its type.
    case attribute
    /// A relationship, whose objects must exist.
    case relationship
  }

  let entity: Entity
  /// The entity's number.
  let number: EntityNumber
  /// The checks, by property number.
  private let checks: ContiguousArray<Check>
  /// Attributes and relationships, by property number.
  private let attributes: ContiguousArray<Attribute?>
  private let relationships: ContiguousArray<Relationship?>
  /// The properties that must have a value, rising.
  let required: ContiguousArray<PropertyNumber>
  /// The to-many relationships whose number of objects is limited.
  let limited: [Relationship]
  /// Whether an object can become too long for one change.
  let admitsLongObjects: Bool
  /// The unique rules over numbers that may have several keys: doubles, and values of any kind.
  let rulesOfNumbers: [UniqueRule]
  /// The properties that a unique rule covers.
  private let uniqueProperties: Set<PropertyNumber>

  init(_ entity: Entity) {
    self.entity = entity
    number = entity.number
    admitsLongObjects = entity.admitsLongObjects
    let uniqueProperties = Set(entity.uniqueRules.flatMap(\.properties))
    let count = Int(entity.nextPropertyNumber)
    var checks = ContiguousArray<Check>(repeating: .none, count: count)
    var attributes = ContiguousArray<Attribute?>(repeating: nil, count: count)
    var relationships = ContiguousArray<Relationship?>(repeating: nil, count: count)
    for attribute in entity.attributes where !attribute.isRemoved {
      let number = Int(attribute.number)
      guard number < count else { continue }
      let isUnique = uniqueProperties.contains(attribute.number)
      checks[number] = EntityRules.check(attribute, isUnique: isUnique)
      attributes[number] = attribute
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      let number = Int(relationship.number)
      guard number < count else { continue }
      checks[number] = .relationship
      relationships[number] = relationship
    }
    self.checks = checks
    self.attributes = attributes
    self.relationships = relationships
    self.uniqueProperties = uniqueProperties
    rulesOfNumbers = entity.uniqueRulesOfNumbers
    limited = entity.relationships.filter(\.hasCountLimit)
    required = ContiguousArray(
      (entity.attributes.filter(\.mustHaveValue).map(\.number)
        + entity.relationships.filter(\.isRequired).map(\.number)).sorted())
  }

  @inline(__always)
  func check(_ property: PropertyNumber) -> Check {
    Int(property) < checks.count ? checks[Int(property)] : .none
  }

  /// The attribute of this number; nil if it does not exist or was removed.
  func attribute(_ property: PropertyNumber) -> Attribute? {
    Int(property) < attributes.count ? attributes[Int(property)] : nil
  }

  /// The relationship of this number; nil if it does not exist or was removed.
  func relationship(_ property: PropertyNumber) -> Relationship? {
    Int(property) < relationships.count ? relationships[Int(property)] : nil
  }

  /// Whether the property must have a value.
  func isRequired(_ property: PropertyNumber) -> Bool {
    attribute(property)?.mustHaveValue ?? relationship(property)?.isRequired ?? false
  }

  /// Whether a unique rule covers the property.
  func isUnique(_ property: PropertyNumber) -> Bool { uniqueProperties.contains(property) }

  private static func check(_ attribute: Attribute, isUnique: Bool) -> Check {
    if !attribute.validation.isEmpty || isUnique { return .attribute }
    switch attribute.type {
    case .int16: return .int16
    case .int32: return .int32
    case .json, .url, .any: return .attribute
    case .double: return .finite
    case .bool, .int64, .string, .date, .uuid, .data, .decimal, .day: return .none
    }
  }
}

extension Attribute {
  /// Whether every object has a value of its own.
  var mustHaveValue: Bool { !isRemoved && !isOptional && defaultValue == nil }
}

extension Entity {
  /// The unique rules over numbers that may have several keys: doubles, and values of any kind.
  var uniqueRulesOfNumbers: [UniqueRule] {
    uniqueRules.filter { rule in
      rule.properties.contains { number in
        let type = attribute(numbered: number)?.type
        return type == .double || type == .any
      }
    }
  }
}
