import AnnalsEngine
import AnnalsModel

// The schema that record types need.

extension Schema {
  /// The schema that these record types need.
  public init(records: [any Record.Type]) {
    self.init(entities: records.map { Schema.entity(of: $0) })
  }

  private static func entity<R: Record>(of type: R.Type) -> Entity { R.entity.schemaEntity }

  /// Tells the engine the functions that these record types declare for derived attributes.
  package static func declare(_ records: [any Record.Type], in functions: DerivedFunctions) {
    for record in records { declare(record, in: functions) }
  }

  private static func declare<R: Record>(_ type: R.Type, in functions: DerivedFunctions) {
    R.entity.declare(in: functions)
  }

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
        var attribute = property.attribute
        attribute.derivation = property.derivation?()
        entity.attributes.append(attribute)
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

  /// Tells the engine the functions that the record type declares for derived attributes.
  package func declare(in functions: DerivedFunctions) {
    for property in properties {
      if let function = property.function {
        functions.declare(function, of: property.name, in: name)
      }
    }
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
