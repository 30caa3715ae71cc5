/// A schema change that opening a store never makes by itself: renaming and removing.
///
/// Programs declare edits in every run. An edit that is already done does nothing, even if an older
/// program has since added the old name again: that is another property, and stays. So does an edit
/// of a name that the store never had, since a new store never had it: a mistyped name is no error.
public enum SchemaEdit: Hashable, Sendable {
  /// Renames an entity; its objects and history stay.
  case renameEntity(String, to: String)
  /// Renames an attribute or relationship.
  case renameProperty(entity: String, String, to: String)
  /// Hides an entity and its objects; past states keep them.
  case removeEntity(String)
  /// Hides an attribute or relationship, and drops the indexes over it; past states keep it.
  case removeProperty(entity: String, String)
  /// Drops an index.
  case removeIndex(entity: String, String)
}

extension SchemaMerge {
  /// Applies one edit, or notes why it is impossible. Does nothing if it is already done, or if the
  /// store never had what it names.
  mutating func make(_ edit: SchemaEdit) {
    switch edit {
    case .renameEntity(let old, let new): renameEntity(old, to: new)
    case .renameProperty(let entity, let old, let new):
      guard let index = liveIndex(ofEntity: entity) else { return }
      renameProperty(of: index, old, to: new)
    case .removeEntity(let name): removeEntity(name)
    case .removeProperty(let entity, let name):
      guard let index = liveIndex(ofEntity: entity) else { return }
      removeProperty(of: index, name)
    case .removeIndex(let entity, let name):
      guard let index = liveIndex(ofEntity: entity),
        let position = schema.entities[index].indexes.firstIndex(where: {
          $0.name.hasSameBytes(as: name)
        })
      else { return }
      schema.entities[index].indexes.remove(at: position)
      markChanged(index)
    }
  }

  private mutating func renameEntity(_ old: String, to new: String) {
    guard let index = liveIndex(ofEntity: old), !old.hasSameBytes(as: new) else { return }
    if let problem = new.entityNameProblem {
      return report(.invalidName, new, nil, problem)
    }
    if let taken = liveIndex(ofEntity: new) {
      // Numbers tell the age: if the older entity has the new name, this rename is already done.
      guard schema.entities[taken].number > schema.entities[index].number else { return }
      return report(.ambiguousRename, old, nil, "\"\(new)\" was added before the rename")
    }
    schema.entities[index].name = new
    markChanged(index)
  }

  private mutating func renameProperty(of index: Int, _ old: String, to new: String) {
    let entity = schema.entities[index]
    guard let number = entity.propertyNumber(named: old), !old.hasSameBytes(as: new) else { return }
    if let problem = new.nameProblem { return report(.invalidName, entity.name, new, problem) }
    if let taken = entity.propertyNumber(named: new) {
      guard taken > number else { return }
      return report(
        .ambiguousRename, entity.name, old, "\"\(new)\" was added before the rename")
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
    markChanged(index)
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

  private mutating func removeEntity(_ name: String) {
    let isDone = schema.entities.contains { $0.isRemoved && $0.name.hasSameBytes(as: name) }
    guard let index = liveIndex(ofEntity: name), !isDone else { return }
    let number = schema.entities[index].number
    for entity in schema.entities where !entity.isRemoved && entity.number != number {
      for relationship in entity.relationships
      where !relationship.isRemoved && relationship.destination == number {
        report(.inUse, name, nil, "\(entity.name).\(relationship.name) still leads to it")
        return
      }
    }
    schema.entities[index].isRemoved = true
    markChanged(index)
  }

  private mutating func removeProperty(of index: Int, _ name: String) {
    let entity = schema.entities[index]
    let isDone =
      entity.attributes.contains { $0.isRemoved && $0.name.hasSameBytes(as: name) }
      || entity.relationships.contains { $0.isRemoved && $0.name.hasSameBytes(as: name) }
    guard let number = entity.propertyNumber(named: name), !isDone else { return }
    if let position = entity.attributes.firstIndex(where: { $0.number == number }) {
      schema.entities[index].attributes[position].isRemoved = true
    } else if let position = entity.relationships.firstIndex(where: { $0.number == number }) {
      schema.entities[index].relationships[position].isRemoved = true
    }
    schema.entities[index].indexes.removeAll { $0.names(number) }
    if entity.displayName?.hasSameBytes(as: name) == true {
      schema.entities[index].displayName = nil
    }
    markChanged(index)
  }
}
