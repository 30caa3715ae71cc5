/// A schema change that opening a store never makes by itself: renaming and removing.
///
/// Programs declare edits in every run, and each is made once: the store remembers which were made,
/// and how often. A later declaration does nothing, whatever has the names by then: an older
/// program may have added the old name again, or this one may use it for something else. Declare an
/// edit twice in one run to make it twice.
///
/// An edit of a name that the store never had does nothing, since a new store never had it: a
/// mistyped name is no error.
public enum SchemaEdit: Hashable, Sendable {
  /// Renames an entity; its objects and history stay.
  case renameEntity(String, to: String)
  /// Renames an attribute or relationship.
  case renameProperty(entity: String, String, to: String)
  /// Removes an entity and deletes its objects; past states keep them.
  case removeEntity(String)
  /// Removes an attribute or relationship, clears its values and drops the indexes over it; past
  /// states keep it.
  case removeProperty(entity: String, String)
  /// Drops an index.
  case removeIndex(entity: String, String)
}

extension SchemaEdit {
  /// The kinds of edits, as they are stored; never renumber.
  package enum Kind: UInt8, Sendable {
    case renameEntity = 1
    case renameProperty = 2
    case removeEntity = 3
    case removeProperty = 4
    case removeIndex = 5
  }

  /// The kind.
  package var kind: Kind {
    switch self {
    case .renameEntity: .renameEntity
    case .renameProperty: .renameProperty
    case .removeEntity: .removeEntity
    case .removeProperty: .removeProperty
    case .removeIndex: .removeIndex
    }
  }

  /// The names, in the order of the case's values.
  package var names: [String] {
    switch self {
    case .renameEntity(let old, let new): [old, new]
    case .renameProperty(let entity, let old, let new): [entity, old, new]
    case .removeEntity(let name): [name]
    case .removeProperty(let entity, let name), .removeIndex(let entity, let name): [entity, name]
    }
  }

  /// The edit of a kind with these names; nil if the kind has another number of names.
  package init?(_ kind: Kind, _ names: [String]) {
    switch (kind, names.count) {
    case (.renameEntity, 2): self = .renameEntity(names[0], to: names[1])
    case (.renameProperty, 3): self = .renameProperty(entity: names[0], names[1], to: names[2])
    case (.removeEntity, 1): self = .removeEntity(names[0])
    case (.removeProperty, 2): self = .removeProperty(entity: names[0], names[1])
    case (.removeIndex, 2): self = .removeIndex(entity: names[0], names[1])
    default: return nil
    }
  }

  /// Whether both are the same edit, with names of the same bytes.
  package func isSame(as other: SchemaEdit) -> Bool {
    kind == other.kind && zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
  }

  /// The name that the edited entity has after the edit.
  var entityName: String {
    if case .renameEntity(_, let new) = self { return new }
    return names[0]
  }
}

extension Schema {
  /// How often the store remembers that an edit was made.
  package func timesRemembered(_ edit: SchemaEdit) -> Int {
    entities.reduce(0) { $0 + $1.madeEdits.count { $0.isSame(as: edit) } }
  }

  /// How often an edit was made.
  ///
  /// In a store whose edits were all made before stores remembered them, a removal was made as
  /// often as the name was removed.
  func timesMade(_ edit: SchemaEdit) -> Int {
    guard entities.allSatisfy(\.madeEdits.isEmpty) else { return timesRemembered(edit) }
    switch edit {
    case .removeEntity(let name):
      return entities.count { $0.isRemoved && $0.name.hasSameBytes(as: name) }
    case .removeProperty(let entity, let name):
      return self.entity(named: entity)?.removedProperties(named: name).count ?? 0
    case .renameEntity, .renameProperty, .removeIndex: return 0
    }
  }
}
