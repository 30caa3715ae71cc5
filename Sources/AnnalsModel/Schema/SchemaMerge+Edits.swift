// Making edits: each once, as often as a run of a program declares it.

extension SchemaMerge {
  /// Makes one edit, or notes why it is impossible. Does nothing if it was made before, or if the
  /// store never had what it names. `occurrence` is how often the program has declared the edit in
  /// this run, this time included.
  mutating func make(_ edit: SchemaEdit, occurrence: Int) {
    guard schema.timesMade(edit) < occurrence else { return }
    let conflictCount = conflicts.count
    if let index = apply(edit) {
      schema.entities[index].madeEdits.append(edit)
      madeEdits.append(edit)
      markChanged(index)
    } else if conflicts.count == conflictCount {
      idleEdits.append(edit)
    }
  }

  /// Remembers the edits for which there was nothing to do as made, where the transaction changes
  /// their entities anyway: what gets their names later is something else.
  mutating func rememberIdleEdits() {
    for edit in idleEdits {
      guard let index = schema.place(ofEntity: edit.entityName), isChanged(index) else { continue }
      schema.entities[index].madeEdits.append(edit)
    }
  }

  /// Changes what an edit says, and returns the index of the entity; nil if there is nothing to do,
  /// or a reason against it.
  private mutating func apply(_ edit: SchemaEdit) -> Int? {
    if case .renameEntity(let old, let new) = edit { return renameEntity(old, to: new) }
    guard let index = schema.place(ofEntity: edit.names[0]) else { return nil }
    let isApplied =
      switch edit {
      case .renameEntity: false
      case .renameProperty(_, let old, let new): renameProperty(of: index, old, to: new)
      case .removeEntity(let name): removeEntity(at: index, name)
      case .removeProperty(_, let name): removeProperty(of: index, name)
      case .removeIndex(_, let name): removeIndex(of: index, name)
      }
    return isApplied ? index : nil
  }

  private mutating func renameEntity(_ old: String, to new: String) -> Int? {
    guard let index = schema.place(ofEntity: old), !old.hasSameBytes(as: new) else { return nil }
    if let problem = new.entityNameProblem {
      report(.invalidName, new, nil, problem)
      return nil
    }
    let number = schema.entities[index].number
    let others = schema.entities.filter { $0.number != number && $0.name.hasSameBytes(as: new) }
    // A rename that was made before stores remembered them: the new name's entity had the old one.
    if others.contains(where: { wasNamed($0.number, nil, old) }) { return nil }
    if let taken = others.first(where: { !$0.isRemoved }) {
      reportRename(old, nil, number, to: new, taken.number)
      return nil
    }
    schema.entities[index].name = new
    return index
  }

  private mutating func renameProperty(of index: Int, _ old: String, to new: String) -> Bool {
    let entity = schema.entities[index]
    guard let number = entity.propertyNumber(named: old), !old.hasSameBytes(as: new) else {
      return false
    }
    if let problem = new.nameProblem {
      report(.invalidName, entity.name, new, problem)
      return false
    }
    let taken = entity.propertyNumber(named: new)
    // As for an entity.
    let others = entity.removedProperties(named: new) + (taken.map { [$0] } ?? [])
    if others.contains(where: { wasNamed(entity.number, $0, old) }) { return false }
    if let taken {
      reportRename(entity.name, old, number, to: new, taken)
      return false
    }
    if let position = entity.attributes.firstIndex(where: { $0.number == number }) {
      schema.entities[index].attributes[position].name = new
    } else if let position = entity.relationships.firstIndex(where: { $0.number == number }) {
      schema.entities[index].relationships[position].name = new
    }
    if entity.displayName?.hasSameBytes(as: old) == true {
      schema.entities[index].displayName = new
    }
    renameIndexes(of: index, over: number, old, to: new)
    return true
  }

  /// Notes that a rename is impossible, as both names are in use.
  private mutating func reportRename(
    _ entity: String, _ property: String?, _ number: UInt32, to new: String, _ taken: UInt32
  ) {
    let old = property ?? entity
    report(
      .ambiguousRename, entity, property,
      "a rename to \"\(new)\" is declared, and the store has both names: \"\(old)\" (number "
        + "\(number)) and \"\(new)\" (number \(taken)), each with values of its own. Remove or "
        + "rename one of them first, or leave out the rename")
  }

  /// Renames the indexes over a renamed property that are named after their properties, as records
  /// name them. So the program that renamed it finds its indexes, and an older one may add its own.
  private mutating func renameIndexes(
    of index: Int, over number: PropertyNumber, _ old: String, to new: String
  ) {
    let entity = schema.entities[index]
    for (position, description) in entity.indexes.enumerated() where description.names(number) {
      let names = description.elements.map {
        $0.property == number ? new : entity.propertyName(of: $0)
      }
      let former = description.elements.map {
        $0.property == number ? old : entity.propertyName(of: $0)
      }
      let name = description.recordName(over: names)
      guard description.name.hasSameBytes(as: description.recordName(over: former)),
        !schema.entities[index].indexes.contains(where: { $0.name.hasSameBytes(as: name) })
      else { continue }
      schema.entities[index].indexes[position].name = name
    }
    renamed.insert(RenamedProperty(entity: index, property: number))
  }

  private mutating func removeEntity(at index: Int, _ name: String) -> Bool {
    let number = schema.entities[index].number
    for entity in schema.entities where !entity.isRemoved && entity.number != number {
      for relationship in entity.relationships
      where !relationship.isRemoved && relationship.destination == number {
        report(.inUse, name, nil, "\(entity.name).\(relationship.name) still leads to it")
        return false
      }
    }
    schema.entities[index].isRemoved = true
    return true
  }

  private mutating func removeProperty(of index: Int, _ name: String) -> Bool {
    let entity = schema.entities[index]
    guard let number = entity.propertyNumber(named: name) else { return false }
    schema.entities[index] = entity.removing(number)
    return true
  }

  private mutating func removeIndex(of index: Int, _ name: String) -> Bool {
    let position = schema.entities[index].indexes.firstIndex { $0.name.hasSameBytes(as: name) }
    guard let position else { return false }
    schema.entities[index].indexes.remove(at: position)
    return true
  }
}

extension Entity {
  /// The entity with a property removed, and the indexes over it dropped.
  package func removing(_ number: PropertyNumber) -> Entity {
    var result = self
    for place in attributes.indices where attributes[place].number == number {
      result.attributes[place].isRemoved = true
    }
    for place in relationships.indices where relationships[place].number == number {
      result.relationships[place].isRemoved = true
    }
    result.indexes.removeAll { $0.names(number) }
    if let name = propertyName(number), displayName?.hasSameBytes(as: name) == true {
      result.displayName = nil
    }
    return result
  }
}
