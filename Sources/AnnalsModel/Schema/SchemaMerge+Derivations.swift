// How the derived attributes of a program's schema are merged into the store's.
//
// A declaration replaces how an attribute is derived; one without a derivation leaves it, and
// `Derivation.removed` ends it. A function of a lower version than the store's leaves it, too: the
// program that declares it cannot write what the function reads.

extension SchemaMerge {
  /// Takes the derivations of these entities, of which all properties are in the store by now.
  mutating func addDerivations(of required: [Entity], in program: Schema, _ places: NameIndex) {
    for entity in required where entity.hasDerivations {
      guard let index = places[entity.name] else { continue }
      for attribute in entity.attributes where !attribute.isRemoved {
        guard let declared = attribute.derivation,
          let position = schema.entities[index].attributes.firstIndex(where: {
            !$0.isRemoved && $0.name.hasSameBytes(as: attribute.name)
          })
        else { continue }
        let derivation = program.naming(declared, of: entity)
        set(derivation, ofAttributeAt: position, in: index)
      }
    }
    guard !changedEntities.isEmpty, schema.hasDerivations else { return }
    let known = conflicts
    conflicts += schema.derivationConflicts.filter { !known.contains($0) }
  }

  private mutating func set(
    _ declared: Derivation, ofAttributeAt position: Int, in index: Int
  ) {
    let entity = schema.entities[index]
    let attribute = entity.attributes[position]
    if declared.kind == .removed {
      if attribute.derivation == nil { return }
      schema.entities[index].attributes[position].derivation = nil
      return markChanged(index)
    }
    let (derivation, problem) = schema.numbering(declared, of: entity)
    if let problem { return report(.invalidDerivation, entity.name, attribute.name, problem) }
    if let stored = attribute.derivation, stored.kind == .function, derivation.kind == .function {
      if derivation.version < stored.version { return }
      if derivation.version == stored.version, derivation != stored {
        let reason =
          "the store has version \(stored.version) of its function with other properties: raise "
          + "the version"
        return report(.invalidDerivation, entity.name, attribute.name, reason)
      }
    }
    if derivation == attribute.derivation { return }
    schema.entities[index].attributes[position].derivation = derivation
    markChanged(index)
    keepReferrers(for: derivation, of: index)
  }

  /// Has the relationship of a derivation keep who refers to each object.
  private mutating func keepReferrers(for derivation: Derivation, of index: Int) {
    guard let source = schema.source(of: derivation, in: schema.entities[index]),
      !source.relationship.isCounted,
      let owner = schema.entities.firstIndex(where: { $0.number == source.owner.number }),
      let place = schema.entities[owner].relationships.firstIndex(where: {
        $0.number == source.relationship.number
      })
    else { return }
    schema.entities[owner].relationships[place].isCounted = true
    markChanged(owner)
  }
}
