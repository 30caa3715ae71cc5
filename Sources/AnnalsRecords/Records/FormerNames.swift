import AnnalsEngine
import AnnalsFormat
import AnnalsModel

// What became of entities and properties that a program knows by a name the store no longer has.

/// An entity or a property that once had another name, as it is now.
struct RenamedDefinition {
  var name: String
  var isRemoved: Bool

  /// What a program that uses the former name is told; `what` is the kind of definition.
  func reason(_ what: String) -> String {
    isRemoved ? "the \(what) was removed" : "the \(what) is named \(name) now; use that name"
  }
}

extension [SchemaHistoryEntry] {
  /// The entity that last had this name, and was renamed or removed since; nil if there is none.
  func formerEntity(_ name: String, in schema: Schema) -> RenamedDefinition? {
    for entry in reversed() {
      let old = entry.change.lazy.map(\.definition).first {
        $0.name.hasSameBytes(as: name) && !$0.isRemoved
      }
      guard let old else { continue }
      return schema.entities.first { $0.number == old.number }.map {
        RenamedDefinition(name: $0.name, isRemoved: $0.isRemoved)
      }
    }
    return nil
  }

  /// The property of the entity that last had this name, and was renamed or removed since; nil if
  /// there is none.
  func formerProperty(_ name: String, of entity: Entity) -> RenamedDefinition? {
    for entry in reversed() {
      guard let then = entry.change.first(where: { $0.number == entity.number }),
        let number = then.definition.propertyNumber(named: name)
      else { continue }
      return entity.properties.first { $0.number == number }.map {
        RenamedDefinition(name: $0.name, isRemoved: $0.isRemoved)
      }
    }
    return nil
  }
}

extension [SchemaHistoryEntry] {
  /// The transaction that last gave this name to a property of the entity, or took it away; nil if
  /// that is not known.
  package func lastChange(of name: String, in entity: Entity) -> Int64? {
    var number: PropertyNumber?
    var last: Int64?
    var schema = Schema()
    for (place, entry) in enumerated() {
      schema.apply(entry.change)
      let now = schema.entity(numbered: entity.number)?.propertyNumber(named: name)
      // The first entry may be the whole schema of a base.
      if now != number, place > 0 { last = entry.number }
      number = now
    }
    return last
  }
}

extension AnnalsError {
  /// The error, with what it is that the store has in place of the names that it lacks: their new
  /// name, or those that a program may have meant to rename.
  package func tellingOfFormerNames(
    _ schema: Schema, _ required: Schema, _ history: [SchemaHistoryEntry]
  ) -> AnnalsError {
    var conflicts = schemaConflicts
    for (index, conflict) in conflicts.enumerated() where conflict.kind == .missingDefault {
      guard let name = conflict.property, let entity = schema.entity(named: conflict.entity) else {
        continue
      }
      if let now = history.formerProperty(name, of: entity) {
        conflicts[index].reason =
          now.isRemoved
          ? "the attribute was removed; \(conflict.reason)"
          : now.reason("attribute") + ". By this one, \(conflict.reason)"
      } else if let old = required.entity(named: conflict.entity)?.formerAttribute(name, of: entity)
      {
        conflicts[index].reason =
          "\(conflict.reason). If it is \(old) by another name, say so: "
          + "Property(\"\(name)\", …).renamed(from: \"\(old)\")"
      }
    }
    return conflicts == schemaConflicts ? self : .invalidSchema(conflicts)
  }
}

extension Entity {
  /// The attribute of the stored entity that this, a program's, may mean by `name`: of the same
  /// type, and not among those that the program has.
  fileprivate func formerAttribute(_ name: String, of stored: Entity) -> String? {
    guard let wanted = attribute(named: name) else { return nil }
    return stored.attributes.first {
      !$0.isRemoved && $0.type == wanted.type && propertyNumber(named: $0.name) == nil
    }?.name
  }
}
