// How the schema of a store follows the programs that open it.
//
// A program states what it needs, by name; the store keeps what it has, by number. Rules:
//
// - What the store lacks is added, under numbers never used before.
// - What the store has beyond the program's needs stays. So a program that states less (a narrower
//   type, a required attribute where the store's is optional, no uniqueness) changes nothing, and
//   two programs of different ages can take turns without end, neither undoing the other.
// - What both have grows to hold the values of both: int16 → int32 → int64, any kind → any,
//   required → optional, wider bounds, more allowed values. It never shrinks.
// - A to-one relationship alone can shrink: from optional to required, if no object lacks it. It
//   has no default, so the rule would never take effect where it was added to objects. A program
//   that declares it optional makes it so again.
// - What cannot grow so is refused, by name, all of it in one error, and nothing changes.
// - Renaming and removing are explicit (`SchemaEdit`), and each is made once.
//
// A null stored in a required attribute means its default: that is how the attribute could be added
// without rewriting older objects. Where a growth would give those nulls another meaning, the
// change lists the attribute in `backfills`, and whoever makes it writes the default out first.

/// A change of a store's schema.
package struct SchemaChange: Sendable {
  /// The whole schema after the change.
  package var schema: Schema
  /// The complete new definitions of changed entities, by number; the content of
  /// `TransactionRecord.schemaChange`. Empty if nothing changes.
  package var changed: [Entity]
  /// The attributes whose stored nulls must be replaced by their default in the same transaction,
  /// because null has another meaning after it.
  package var backfills: [Backfill]
  /// The edits that change something.
  package var edits: [SchemaEdit] = []

  /// Whether nothing changes.
  package var isEmpty: Bool { changed.isEmpty }

  /// An attribute, and the value to write where it is null.
  package struct Backfill: Hashable, Sendable {
    package var entity: EntityNumber
    package var property: PropertyNumber
    package var value: Value

    package init(entity: EntityNumber, property: PropertyNumber, value: Value) {
      self.entity = entity
      self.property = property
      self.value = value
    }
  }
}

/// What a merge of schemas lets pass while a migration is going to put it right.
package struct SchemaTolerance: OptionSet, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Not `[]`: the first use of a literal of the type searches all conformances of the process.
  package static var nothing: SchemaTolerance { SchemaTolerance(rawValue: 0) }
  /// New required properties without a default, though there are objects, which lack them so far.
  package static let missingValues = SchemaTolerance(rawValue: 1)
  /// What contradicts the store's schema, which stays as it is.
  package static let contradictions = SchemaTolerance(rawValue: 2)
}

extension Schema {
  /// What to change in this, a store's schema, so that it holds what a program needs.
  ///
  /// - Parameters:
  ///   - required: what the program needs; its numbers are not looked at.
  ///   - edits: renames and removals, made in this order before `required` is added; each once.
  ///   - timesDeclared: how often the program has declared an edit in this run, before these.
  ///   - wasNamed: whether the entity, or a property of it, had this name in the store's history.
  ///   - objectCount: how many objects an entity has.
  ///   - tolerance: what is no error.
  /// - Returns: the change; empty if the store has all that the program needs.
  /// - Throws: `SchemaError` with every reason why the change is impossible.
  package func adding(
    _ required: Schema, edits: [SchemaEdit] = [], timesDeclared: (SchemaEdit) -> Int = { _ in 0 },
    wasNamed: @escaping (EntityNumber, PropertyNumber?, String) -> Bool = { _, _, _ in false },
    objectCount: (EntityNumber) -> Int = { _ in 0 },
    tolerating tolerance: SchemaTolerance = .nothing
  ) throws(SchemaError) -> SchemaChange {
    var merge = SchemaMerge(schema: self, wasNamed: wasNamed)
    merge.tolerance = tolerance
    for (place, edit) in edits.enumerated() {
      let inList = edits[...place].count { $0.isSame(as: edit) }
      merge.make(edit, occurrence: timesDeclared(edit) + inList)
    }
    if tolerance.contains(.contradictions) { merge.conflicts = [] }
    merge.conflicts += required.conflicts(besides: merge.schema)
    // An invalid schema would only repeat its errors below.
    guard merge.conflicts.isEmpty else { throw SchemaError(merge.conflicts) }
    merge.add(required, objectCount: objectCount)
    merge.rememberIdleEdits()
    if tolerance.contains(.contradictions) { merge.conflicts = [] }
    guard merge.conflicts.isEmpty else { throw SchemaError(merge.conflicts) }
    return SchemaChange(
      schema: merge.schema, changed: merge.changedEntities, backfills: merge.backfills,
      edits: merge.madeEdits)
  }
}

/// A property that was renamed, with the place of its entity in the schema.
struct RenamedProperty: Hashable {
  var entity: Int
  var property: PropertyNumber
}

/// Merges a program's schema into a store's.
struct SchemaMerge {
  var schema: Schema
  var conflicts: [SchemaConflict] = []
  /// What is no error.
  var tolerance: SchemaTolerance = .nothing
  var backfills: [SchemaChange.Backfill] = []
  /// The properties that edits have renamed just now.
  var renamed: Set<RenamedProperty> = []
  /// The edits that changed something.
  var madeEdits: [SchemaEdit] = []
  /// The edits for which there was nothing to do.
  var idleEdits: [SchemaEdit] = []
  /// Whether an entity, or a property of it, had a name in the store's history.
  let wasNamed: (EntityNumber, PropertyNumber?, String) -> Bool
  private var changedIndexes: Set<Int> = []
  /// The names that the current entity has.
  var names = EntityNames()
  private var knownBackfills: Set<SchemaChange.Backfill> = []

  init(
    schema: Schema, wasNamed: @escaping (EntityNumber, PropertyNumber?, String) -> Bool
  ) {
    self.schema = schema
    self.wasNamed = wasNamed
  }

  var changedEntities: [Entity] { changedIndexes.sorted().map { schema.entities[$0] } }

  mutating func markChanged(_ index: Int) {
    changedIndexes.insert(index)
  }

  func isChanged(_ index: Int) -> Bool { changedIndexes.contains(index) }

  mutating func report(
    _ kind: SchemaConflict.Kind, _ entity: String, _ property: String?, _ reason: String
  ) {
    conflicts.append(SchemaConflict(kind, entity, property, reason))
  }

  /// Adds everything in `required`: first the entities, so that relationships find them.
  mutating func add(_ required: Schema, objectCount: (EntityNumber) -> Int) {
    let live = required.entities.filter { !$0.isRemoved }
    DefinitionProbe.count(schema.entities.count + live.count)
    var entityPlaces = NameIndex([])
    for (place, entity) in schema.entities.enumerated() where !entity.isRemoved {
      entityPlaces.insert(entity.name, at: place)
    }
    var last = schema.entities.map(\.number).max() ?? 0
    for entity in live where entityPlaces[entity.name] == nil {
      guard schema.entities.count < SchemaLimits.entities else {
        return conflicts.append(.tooManyEntities(entity.name))
      }
      var added = Entity(entity.name)
      last += 1
      added.number = last
      entityPlaces.insert(added.name, at: schema.entities.count)
      schema.entities.append(added)
      markChanged(schema.entities.count - 1)
    }
    for entity in live {
      guard let index = entityPlaces[entity.name] else { continue }
      let count = objectCount(schema.entities[index].number)
      let rulesBefore = schema.entities[index].uniqueRules
      names = EntityNames(schema.entities[index])
      for attribute in entity.attributes where !attribute.isRemoved {
        add(attribute, to: index, objectCount: count)
      }
      for relationship in entity.relationships where !relationship.isRemoved {
        let target = entityPlaces[required.destinationName(of: relationship)]
        // `conflicts(besides:)` has checked that the destination exists.
        if let target { add(relationship, leadingTo: target, to: index, objectCount: count) }
      }
      for description in entity.indexes { add(description, of: entity, to: index) }
      if schema.entities[index].displayName == nil, let name = entity.displayName {
        schema.entities[index].displayName = name
        markChanged(index)
      }
      noteRuleBackfills(of: index, besides: rulesBefore, objectCount: count)
    }
    addDerivations(of: live, in: required, entityPlaces)
  }

  /// Assigns the next property number of an entity. Returns nil, and notes a conflict, if none is
  /// left.
  mutating func assignNumber(of index: Int, for name: String) -> PropertyNumber? {
    // No copy of the entity is held here; otherwise each assigned number would copy it.
    let next = schema.entities[index].nextPropertyNumber
    guard next <= SchemaLimits.properties else {
      conflicts.append(.tooManyProperties(schema.entities[index].name, name))
      return nil
    }
    schema.entities[index].nextPropertyNumber += 1
    markChanged(index)
    return next
  }

  /// Notes the attributes of an entity with objects whose defaults new uniqueness rules must see.
  private mutating func noteRuleBackfills(
    of index: Int, besides rulesBefore: [UniqueRule], objectCount: Int
  ) {
    guard objectCount > 0 else { return }
    let entity = schema.entities[index]
    let known = Set(rulesBefore)
    for rule in entity.uniqueRules where !known.contains(rule) {
      for property in rule.properties.sorted() {
        guard let attribute = entity.attribute(numbered: property) else { continue }
        noteBackfill(of: attribute, in: entity.number)
      }
    }
  }

  /// Notes the attribute for backfill if its nulls read as a default.
  mutating func noteBackfill(of attribute: Attribute, in entity: EntityNumber) {
    guard !attribute.isOptional, let value = attribute.defaultValue, !value.isNull else { return }
    let backfill = SchemaChange.Backfill(entity: entity, property: attribute.number, value: value)
    if knownBackfills.insert(backfill).inserted { backfills.append(backfill) }
  }
}
