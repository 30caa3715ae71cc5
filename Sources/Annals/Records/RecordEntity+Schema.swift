import AnnalsModel

// The schema that record types need.

extension Schema {
  /// The schema that these record types need.
  public init(records: [any Record.Type]) {
    self.init(entities: records.map { Schema.entity(of: $0) })
  }

  private static func entity<R: Record>(of type: R.Type) -> Entity { R.entity.schemaEntity }

  /// The renames that these record types declare.
  package static func edits(of records: [any Record.Type]) -> [SchemaEdit] {
    records.flatMap { edits(of: $0) }
  }

  private static func edits<R: Record>(of type: R.Type) -> [SchemaEdit] { R.entity.edits }
}

extension RecordEntity {
  /// The entity that the record type needs: by names, without numbers.
  package var schemaEntity: Entity {
    var entity = Entity(name)
    for property in properties {
      if let relationship = property.relationship {
        entity.relationships.append(
          Relationship(
            property.name, to: relationship.destination(), isOptional: !relationship.isRequired,
            isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
            onDelete: relationship.deleteRule, relationship.deleteRuleOptions,
            inverse: relationship.inverseName, count: relationship.count))
      } else {
        entity.attributes.append(property.attribute)
      }
      for direction in property.indexed {
        let element = IndexElement(property.name, isDescending: direction == .descending)
        entity.indexes.append(IndexDescription(over: [element]))
      }
      if property.isDisplayName { entity.displayName = property.name }
    }
    entity.indexes += indexes.map(\.description)
    return entity
  }

  /// The renames that the record type declares.
  package var edits: [SchemaEdit] {
    formerNames.map { SchemaEdit.renameEntity($0, to: name) }
      + properties.flatMap { property in
        property.formerNames.map {
          SchemaEdit.renameProperty(entity: name, $0, to: property.name)
        }
      }
  }
}
