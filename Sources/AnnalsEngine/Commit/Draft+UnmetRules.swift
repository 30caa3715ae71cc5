import AnnalsFormat
import AnnalsModel
import AnnalsState

// What a program's schema requires anew, while its migrations are being made: each closure works
// with the whole of it, and each transaction leaves a schema that its objects obey. So what a
// transaction does not meet yet is withheld from the definitions, and required again by the next.

extension Draft {
  /// Adds what can be added of a program's schema, for the closure of a migration: what is missing
  /// or contradicts is its to put right. O(definitions).
  mutating func begin(_ declared: Schema, _ edits: [SchemaEdit]) throws(AnnalsError) {
    _ = try require(
      declared, edits, timesDeclared: { _ in 0 }, tolerating: [.missingValues, .contradictions])
    var changed: [Entity] = []
    for needed in declared.entities where !needed.isRemoved {
      guard var entity = schema.entity(named: needed.name) else { continue }
      let before = entity
      for place in entity.attributes.indices {
        let attribute = entity.attributes[place]
        guard attribute.isOptional, !attribute.isRemoved,
          needed.attribute(named: attribute.name)?.mustHaveValue ?? false,
          isAwaited(attribute.number, of: entity.number)
        else { continue }
        entity.attributes[place].isOptional = false
      }
      if entity != before { changed.append(entity) }
    }
    if !changed.isEmpty { redefine(changed) }
  }

  /// Whether an earlier migration added the property to an entity, which may have had to leave its
  /// values to later ones. O(changes of the schema).
  private func isAwaited(_ property: PropertyNumber, of entity: EntityNumber) -> Bool {
    let first = records.history.firstIndex { entry in
      entry.change.contains {
        $0.number == entity && $0.definition.attribute(numbered: property) != nil
      }
    }
    guard let first, first > 0 else { return false }
    let number = records.history[first].number
    return records.migrations.contains { $0.number == number }
  }

  /// Takes back what the draft requires anew and some object does not meet: values, which become
  /// optional, unique keys, numbers of references, and delete rules of references to deleted
  /// objects. O(objects) for each.
  mutating func withholdUnmet(_ declared: Schema) throws {
    for number in changedEntities.sorted() {
      guard let before = base.schema.entity(numbered: number), !before.isRemoved,
        var entity = schema.entity(numbered: number), !entity.isRemoved
      else { continue }
      let given = entity
      for place in entity.attributes.indices {
        let attribute = entity.attributes[place]
        guard attribute.mustHaveValue, attribute.derivation == nil,
          before.attribute(numbered: attribute.number)?.isOptional != false,
          try reader.has(in: attribute.number, number, where: \.isNull)
        else { continue }
        entity.attributes[place].isOptional = true
      }
      for place in entity.relationships.indices {
        try withholdUnmet(&entity.relationships[place], of: given, since: before, declared)
      }
      let broken = try newUniqueRulesBroken(of: given, since: before)
      for place in entity.attributes.indices where broken.contains(entity.attributes[place].number)
      {
        entity.attributes[place].isUnique = false
      }
      for place in entity.indexes.indices where broken.contains(entity.indexes[place].number) {
        entity.indexes[place].isUnique = false
      }
      if entity != given { redefine([entity]) }
    }
  }

  private mutating func withholdUnmet(
    _ relationship: inout Relationship, of entity: Entity, since before: Entity,
    _ declared: Schema
  ) throws {
    let old = before.relationships.first { $0.number == relationship.number }
    if relationship.isRequired, old?.isRequired != true,
      try reader.has(in: relationship.number, entity.number, where: \.isNull)
    {
      relationship.isOptional = true
    }
    if relationship.hasCountLimit, !relationship.isLooser(than: old) {
      let limited = relationship
      let isBroken = try reader.has(in: relationship.number, entity.number) { value in
        !value.isErased && limited.countViolation(value.targets.count) != nil
      }
      if isBroken {
        relationship.minimumCount = old?.minimumCount
        relationship.maximumCount = old?.maximumCount
      }
    }
    guard relationship.hasDeleteRule, let old, !old.hasDeleteRule else { return }
    if try !clearDangling(relationship, of: entity, as: declared).isEmpty {
      relationship.deleteRule = old.deleteRule
    }
  }

  /// The numbers of the unique rules that an entity gets and its objects break.
  private func newUniqueRulesBroken(
    of entity: Entity, since before: Entity
  ) throws(AnnalsError) -> Set<PropertyNumber> {
    let new = Set(entity.uniqueRules).subtracting(before.uniqueRules)
    if new.isEmpty { return [] }
    let found = try AnnalsError.translating { () throws(StateFault) in
      var draft = self
      return try draft.collisions()
    }
    return Set(found.filter { $0.entity == entity.number }.map(\.rule))
      .intersection(new.map(\.number))
  }
}

extension StateReader {
  /// Whether an object has such a value of a property. O(objects) if none does.
  fileprivate func has(
    in property: PropertyNumber, _ entity: EntityNumber, where matches: (Value) -> Bool
  ) throws -> Bool {
    var isFound = false
    try forEachValue(of: property, entity) { _, value in
      isFound = matches(value)
      return !isFound
    }
    return isFound
  }
}
