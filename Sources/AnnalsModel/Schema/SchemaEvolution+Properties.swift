// How an attribute, relationship or index of a program's schema is merged into the store's entity.

extension SchemaMerge {
  mutating func add(_ required: Attribute, to index: Int, objectCount: Int) {
    // No copy of the entity is held here; otherwise each added attribute would copy it.
    let name = schema.entities[index].name
    if names.relationships[required.name] != nil {
      return report(
        .incompatibleType, name, required.name,
        "the store has a relationship of this name, not an attribute")
    }
    guard let position = names.attributes[required.name] else {
      return insert(required, into: index, objectCount: objectCount)
    }
    var merged = schema.entities[index].attributes[position]
    guard merged.type.widens(to: required.type) || required.type.widens(to: merged.type) else {
      let reason =
        "the store has it as \(merged.type), which cannot become \(required.type); add an "
        + "attribute of another name, and fill it from this one in a write"
      return report(.incompatibleType, name, required.name, reason)
    }
    if required.type == .any,
      let keeping = schema.entities[index].indexKeepingType(of: merged.number)
    {
      let reason = "the \(keeping.kind.title) \"\(keeping.name)\" needs it to stay \(merged.type)"
      return report(.incompatibleType, name, required.name, reason)
    }
    if required.isOptional, !merged.isOptional, objectCount > 0 {
      noteBackfill(of: merged, in: schema.entities[index].number)
    }
    // Mostly nothing differs, and every opening comes here.
    var numbered = required
    numbered.number = merged.number
    if numbered == merged { return }
    _ = merged.grow(toHold: required)
    if merged == schema.entities[index].attributes[position] { return }
    // Each schema is valid by itself, but the rules of both together may not be.
    let faults = merged.conflicts(of: name)
    guard faults.isEmpty else { return conflicts += faults }
    schema.entities[index].attributes[position] = merged
    markChanged(index)
  }

  private mutating func insert(_ required: Attribute, into index: Int, objectCount: Int) {
    let entity = schema.entities[index].name
    var added = required
    if added.defaultValue?.isNull == true { added.defaultValue = nil }
    let mayLack = added.defaultValue == nil && tolerance.contains(.missingValues)
    let isDerived = (required.derivation?.kind ?? .removed) != .removed
    // Set when all properties are there.
    added.derivation = nil
    if !added.isOptional, added.defaultValue == nil, objectCount > 0, !mayLack, !isDerived {
      let reason =
        "a required attribute can be added where there are objects only with a default"
      return report(.missingDefault, entity, added.name, reason)
    }
    if added.isUnique, !added.isOptional, objectCount > 1, !mayLack, !isDerived {
      let reason = "\(objectCount) objects would all have the default; make it optional"
      return report(.notUnique, entity, added.name, reason)
    }
    guard let number = assignNumber(of: index, for: added.name) else { return }
    added.number = number
    names.attributes.insert(added.name, at: schema.entities[index].attributes.count)
    schema.entities[index].attributes.append(added)
  }

  mutating func add(
    _ required: Relationship, leadingTo target: Int, to index: Int, objectCount: Int
  ) {
    let entity = schema.entities[index].name
    func refuse(_ reason: String) {
      report(.incompatibleRelationship, entity, required.name, reason)
    }
    if names.attributes[required.name] != nil {
      return refuse("the store has an attribute of this name, not a relationship")
    }
    let number = schema.entities[target].number
    if let place = names.relationships[required.name] {
      var stored = schema.entities[index].relationships[place]
      let conflictCount = conflicts.count
      if stored.destination != number {
        let name = schema.entity(numbered: stored.destination)?.name ?? ""
        refuse("the store has it lead to \(name), not to \(schema.entities[target].name)")
      }
      for reason in stored.grow(toHold: required) { refuse(reason) }
      guard conflicts.count == conflictCount else { return }
      if stored != schema.entities[index].relationships[place] {
        schema.entities[index].relationships[place] = stored
        markChanged(index)
      }
      return
    }
    if required.isRequired, objectCount > 0, !tolerance.contains(.missingValues) {
      let reason =
        "a required reference cannot be added where there are objects, since they have none; make "
        + "it optional, set it in every object, and require it then"
      return report(.missingDefault, entity, required.name, reason)
    }
    guard let propertyNumber = assignNumber(of: index, for: required.name) else { return }
    var added = required
    added.number = propertyNumber
    added.destination = number
    added.destinationName = ""
    added.deleteRule = required.deleteRule ?? required.usualDeleteRule
    added.deleteRuleOptions = []
    added.adoptLimits(of: required)
    names.relationships.insert(added.name, at: schema.entities[index].relationships.count)
    schema.entities[index].relationships.append(added)
  }

  mutating func add(_ required: IndexDescription, of program: Entity, to index: Int) {
    let entity = schema.entities[index].name
    func refuse(_ reason: String) { report(.incompatibleIndex, entity, required.name, reason) }
    var added = required
    var isWhole = true
    added.updateReferences { name, property, _ in
      if name.isEmpty { name = program.propertyName(property) ?? "" }
      // A property that could not be added, or is another one, has its own conflict.
      guard let number = number(ofProperty: name, of: index), !hasConflict(name, of: entity)
      else { return isWhole = false }
      (name, property) = ("", number)
    }
    guard isWhole else { return }
    if let position = names.indexes[required.name] {
      let stored = schema.entities[index].indexes[position]
      if !stored.isKnown {
        refuse("the store has an index of this name that only a newer version knows")
      } else if stored.kind != added.kind {
        let isPlain = stored.kind.word == nil
        refuse(
          "the store has it as \(isPlain ? "no \(added.kind.title)" : "a \(stored.kind.title)")")
      } else if stored.elements != added.elements {
        refuse("the store has an index of this name over other properties or in another order")
      } else if stored.tests != added.tests {
        refuse("the store has an index of this name over objects of another condition")
      } else if required.isUnique, !stored.isUnique {
        schema.entities[index].indexes[position].isUnique = true
        markChanged(index)
      }
      return
    }
    if let position = renamedIndex(added, of: index, besides: program) {
      names.indexes.insert(added.name, at: position)
      schema.entities[index].indexes[position].name = added.name
      return markChanged(index)
    }
    if let misfit = schema.entities[index].misfit(of: added) {
      let reason = "the store has \"\(misfit.name)\" as \(misfit.type)"
      return report(.invalidIndex, entity, required.name, reason)
    }
    guard let number = assignNumber(of: index, for: added.name) else { return }
    added.number = number
    names.indexes.insert(added.name, at: schema.entities[index].indexes.count)
    schema.entities[index].indexes.append(added)
  }

  /// The place of the store's index that a program declares under another name because a property
  /// of it was renamed; nil if there is none.
  private func renamedIndex(
    _ added: IndexDescription, of index: Int, besides program: Entity
  ) -> Int? {
    guard renamed.contains(where: { $0.entity == index && added.names($0.property) }) else {
      return nil
    }
    return schema.entities[index].indexes.firstIndex { stored in
      stored.isKnown && stored.elements == added.elements && stored.tests == added.tests
        && stored.kind == added.kind && stored.isUnique == added.isUnique
        && !program.indexes.contains { $0.name.hasSameBytes(as: stored.name) }
    }
  }

  private func hasConflict(_ property: String, of entity: String) -> Bool {
    conflicts.contains {
      $0.entity.hasSameBytes(as: entity) && $0.property?.hasSameBytes(as: property) == true
    }
  }

  private func number(ofProperty name: String, of index: Int) -> PropertyNumber? {
    if let place = names.attributes[name] { return schema.entities[index].attributes[place].number }
    return names.relationships[name].map { schema.entities[index].relationships[$0].number }
  }
}
