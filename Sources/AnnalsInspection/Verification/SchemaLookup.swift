import AnnalsModel

/// Which entities, properties and kinds of value a schema has, for looking up each change.
struct SchemaLookup {
  /// By entity number and property number, from 0: 0 for none, 255 for any kind, else the tag's
  /// number plus one.
  private var kinds: [[UInt8]] = []

  init(_ schema: Schema) {
    for entity in schema.entities where entity.number < SchemaLookup.maximumEntity {
      while kinds.count <= Int(entity.number) { kinds.append([]) }
      var row: [UInt8] = []
      func set(_ property: PropertyNumber, _ kind: UInt8) {
        guard property <= SchemaLookup.maximumProperty else { return }
        while row.count <= Int(property) { row.append(0) }
        row[Int(property)] = kind
      }
      for attribute in entity.attributes {
        set(attribute.number, attribute.type.tag.map { $0.rawValue + 1 } ?? 255)
      }
      for relationship in entity.relationships {
        let tag: ValueTag = relationship.isToMany ? .objects : .object
        set(relationship.number, tag.rawValue + 1)
      }
      // An entity without properties is there all the same.
      if row.isEmpty { row = [0] }
      kinds[Int(entity.number)] = row
    }
  }

  private static let maximumEntity: EntityNumber = 1 << 20
  private static let maximumProperty: PropertyNumber = 1 << 16

  /// Whether the schema has the entity.
  func has(_ entity: EntityNumber) -> Bool {
    Int(entity) < kinds.count && !kinds[Int(entity)].isEmpty
  }

  /// Whether the entity has the property.
  func has(_ property: PropertyNumber, of entity: EntityNumber) -> Bool {
    kind(property, of: entity) != 0
  }

  /// Whether the property may hold a value with this tag.
  func admits(_ tag: ValueTag, in property: PropertyNumber, of entity: EntityNumber) -> Bool {
    let kind = kind(property, of: entity)
    return kind == 255 || kind == tag.rawValue + 1 || tag == .null
  }

  private func kind(_ property: PropertyNumber, of entity: EntityNumber) -> UInt8 {
    guard Int(entity) < kinds.count, Int(property) < kinds[Int(entity)].count else { return 0 }
    return kinds[Int(entity)][Int(property)]
  }
}
