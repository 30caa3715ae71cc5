import AnnalsModel

/// What the changed properties of an entity's objects are checked against at the end of a
/// transaction, prepared so that properties without rules cost nothing.
struct EntityRules: Sendable {
  /// How a property is checked.
  enum Check: Sendable {
    case none
    /// A double: finite.
    case finite
    /// An attribute with rules beyond its kind.
    case attribute(Attribute, isUnique: Bool)
    /// A relationship: its objects exist.
    case relationship(Relationship)
  }

  let entity: Entity
  /// The checks, by property number.
  private let checks: [Check]
  /// The attributes that must have a value, rising by number.
  let required: [Attribute]

  init(_ entity: Entity) {
    self.entity = entity
    var checks = [Check](repeating: .none, count: Int(entity.nextPropertyNumber))
    let uniqueProperties = Set(entity.uniqueRules.flatMap(\.properties))
    for attribute in entity.attributes where !attribute.isRemoved {
      let isUnique = uniqueProperties.contains(attribute.number)
      let check = EntityRules.check(attribute, isUnique: isUnique)
      if checks.indices.contains(Int(attribute.number)) { checks[Int(attribute.number)] = check }
    }
    for relationship in entity.relationships
    where !relationship.isRemoved && checks.indices.contains(Int(relationship.number)) {
      checks[Int(relationship.number)] = .relationship(relationship)
    }
    self.checks = checks
    required = entity.attributes
      .filter { !$0.isRemoved && !$0.isOptional && $0.defaultValue == nil }
      .sorted { $0.number < $1.number }
  }

  func check(_ property: PropertyNumber) -> Check {
    checks.indices.contains(Int(property)) ? checks[Int(property)] : .none
  }

  private static func check(_ attribute: Attribute, isUnique: Bool) -> Check {
    if !attribute.validation.isEmpty || isUnique {
      return .attribute(attribute, isUnique: isUnique)
    }
    switch attribute.type {
    case .int16, .int32, .json, .url, .any: return .attribute(attribute, isUnique: false)
    case .double: return .finite
    case .bool, .int64, .string, .date, .uuid, .data: return .none
    }
  }
}
