import AnnalsModel

/// What the properties of a schema's entities are called, and what stands for those never written;
/// looked up by number. Made once for a schema, since history asks for each change.
package final class PropertyNames: Sendable {
  /// What is known of an entity's properties, by number as far as numbers are low.
  struct OfEntity: Sendable {
    private var dense: ContiguousArray<String?> = []
    private var others: [PropertyNumber: String] = [:]
    /// What a null stands for in required attributes with a default; few have one.
    private var defaults: [PropertyNumber: Value] = [:]

    /// Numbers up to this have a place of their own.
    private static let denseLimit: PropertyNumber = 1024

    init(_ entity: Entity) {
      for attribute in entity.attributes {
        add(attribute.name, attribute.number)
        if !attribute.isOptional, let value = attribute.defaultValue {
          defaults[attribute.number] = value
        }
      }
      for relationship in entity.relationships { add(relationship.name, relationship.number) }
    }

    private mutating func add(_ name: String, _ number: PropertyNumber) {
      guard number <= OfEntity.denseLimit else {
        others[number] = name
        return
      }
      while dense.count <= Int(number) { dense.append(nil) }
      dense[Int(number)] = name
    }

    /// The property's name; nil if the schema does not have it.
    @inline(__always)
    func name(of number: PropertyNumber) -> String? {
      Int(number) < dense.count ? dense[Int(number)] : others[number]
    }

    /// What stands for a value never written: the default, in a required attribute.
    @inline(__always)
    func unwritten(_ number: PropertyNumber) -> Value {
      defaults.isEmpty ? .null : defaults[number] ?? .null
    }
  }

  private let entities: ContiguousArray<(number: EntityNumber, names: OfEntity)>

  /// The names in a schema, and those of the entities that only the other one defines.
  init(_ schema: Schema, otherwise other: Schema) {
    var entities = schema.entities
    for entity in other.entities
    where !entities.contains(where: { $0.number == entity.number }) {
      entities.append(entity)
    }
    entities.sort { $0.number < $1.number }
    self.entities = ContiguousArray(entities.map { ($0.number, OfEntity($0)) })
  }

  /// The names of an entity's properties; nil for one that no schema defines.
  func names(of entity: EntityNumber) -> OfEntity? {
    // Numbers are dense in most stores, so the first look finds it.
    let guess = Int(entity) - 1
    if entities.indices.contains(guess), entities[guess].number == entity {
      return entities[guess].names
    }
    return entities.first { $0.number == entity }?.names
  }
}
