import AnnalsModel

/// The entities, properties and kinds of value of a schema, for a fast look-up per change.
///
/// Small numbers, as writers assign them, index tables. A crafted file may have any numbers;
/// greater ones are in a dictionary, so that memory stays proportional to the file.
struct SchemaLookup {
  /// By entity and property number: 0 for none, 255 for any kind, else the tag's number plus one.
  /// Property 0 stands for the entity itself.
  private var kinds: [[UInt8]] = []
  private var others: [UInt64: UInt8] = [:]

  private static let greatestEntity = 255
  private static let greatestProperty = 255

  /// Adds the definition of an entity from a transaction or a directory.
  mutating func learn(_ change: EntityChange) {
    let entity = change.definition
    if entity.number <= SchemaLookup.greatestEntity {
      while kinds.count <= Int(entity.number) { kinds.append([]) }
      if !change.isPartial { kinds[Int(entity.number)] = [] }
    }
    set(0, of: entity.number, to: 1)
    for attribute in entity.attributes {
      set(
        attribute.number, of: entity.number, to: attribute.type.tag.map { $0.rawValue + 1 } ?? 255)
    }
    for relationship in entity.relationships {
      let tag: ValueTag = relationship.isToMany ? .objects : .object
      set(relationship.number, of: entity.number, to: tag.rawValue + 1)
    }
  }

  private mutating func set(_ property: PropertyNumber, of entity: EntityNumber, to kind: UInt8) {
    guard entity <= SchemaLookup.greatestEntity, property <= SchemaLookup.greatestProperty else {
      others[UInt64(entity) << 32 | UInt64(property)] = kind
      return
    }
    while kinds[Int(entity)].count <= Int(property) { kinds[Int(entity)].append(0) }
    kinds[Int(entity)][Int(property)] = kind
  }

  /// Whether the schema has the entity.
  func has(_ entity: EntityNumber) -> Bool { kind(0, of: entity) != 0 }

  /// Whether the entity has the property.
  func has(_ property: PropertyNumber, of entity: EntityNumber) -> Bool {
    property != 0 && kind(property, of: entity) != 0
  }

  /// Whether the property may hold a value with this tag.
  func admits(_ tag: ValueTag, in property: PropertyNumber, of entity: EntityNumber) -> Bool {
    let kind = kind(property, of: entity)
    if kind == 255 { return tag != .object && tag != .objects }
    return kind == tag.rawValue + 1 || tag == .null || tag == .erased
  }

  private func kind(_ property: PropertyNumber, of entity: EntityNumber) -> UInt8 {
    guard entity <= SchemaLookup.greatestEntity, property <= SchemaLookup.greatestProperty else {
      return others[UInt64(entity) << 32 | UInt64(property)] ?? 0
    }
    guard Int(entity) < kinds.count, Int(property) < kinds[Int(entity)].count else { return 0 }
    return kinds[Int(entity)][Int(property)]
  }
}
