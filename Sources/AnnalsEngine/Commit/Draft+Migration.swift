import AnnalsFormat
import AnnalsModel
import AnnalsState

// What only a migration does to a draft: edits of the schema that are made whatever was made
// before, properties that change their type, and values that must be there in the end.

extension Draft {
  /// Makes a rename or a removal now, however often it was made before. A property without any
  /// value gives way to one that gets its name.
  ///
  /// Throws `.invalidArgument` if what it names does not exist, `.invalidSchema` if it is
  /// impossible; then nothing has changed. Costs what is cleared; O(objects) for a rename to a name
  /// in use.
  package mutating func make(_ edit: SchemaEdit) throws(AnnalsError) {
    switch edit {
    case .renameEntity(let name, _), .removeEntity(let name): _ = try reader.entity(named: name)
    case .renameProperty(let entity, let name, let new):
      _ = try property(name, of: reader.entity(named: entity))
      try dropUnused(new, of: reader.entity(named: entity))
    case .removeProperty(let entity, let name):
      _ = try property(name, of: reader.entity(named: entity))
    case .removeIndex(let entity, let name):
      let indexes = try reader.entity(named: entity).indexes
      guard indexes.contains(where: { $0.name.hasSameBytes(as: name) }) else {
        throw AnnalsError(.invalidArgument, "\(entity) has no index \"\(name)\"")
      }
    }
    let change = try AnnalsError.schema(
      reader.state, adding: Schema(), [edit], timesDeclared: { _ in .max / 2 }, [])
    define(change.changed)
  }

  /// The number of a property. Throws `.invalidArgument` for a name that the entity does not have.
  func property(_ name: String, of entity: Entity) throws(AnnalsError) -> PropertyNumber {
    if let number = entity.propertyNumber(named: name) { return number }
    throw AnnalsError(.invalidArgument, entity.unknownName(name))
  }

  /// Removes the properties without any value that contradict a schema, by their types: so a
  /// migration gets what it needs, whatever its program declares by now. O(objects) for each.
  package mutating func dropUnused(contradicting needed: Schema) throws(AnnalsError) {
    for entity in needed.entities where !entity.isRemoved {
      guard let stored = schema.entity(named: entity.name) else { continue }
      for attribute in entity.attributes {
        guard let other = stored.attribute(named: attribute.name),
          !attribute.type.widens(to: other.type), !other.type.widens(to: attribute.type)
        else { continue }
        try dropUnused(attribute.name, of: reader.entity(named: entity.name))
      }
    }
  }

  /// Removes the property of this name, if there is one and no object has a value of it: one that
  /// was added because the program declares it.
  private mutating func dropUnused(_ name: String, of entity: Entity) throws(AnnalsError) {
    guard let number = entity.propertyNumber(named: name) else { return }
    var isUsed = false
    try AnnalsError.translating { [reader] in
      try reader.forEachValue(of: number, entity.number) { _, value in
        isUsed = !value.isNull && value != .objects([])
        return !isUsed
      }
    }
    if !isUsed { redefine([entity.removing(number)]) }
  }

  // MARK: Types

  /// Puts a new property in the place of one of the same name, which is removed as
  /// `SchemaEdit.removeProperty` removes one: its values are cleared, and past states have them.
  /// Returns what the conversion of the values needs.
  ///
  /// `definition` has the new property alone. Throws `.invalidArgument` for unknown names,
  /// `.invalidSchema` for a definition that is impossible; the caller then drops the draft.
  mutating func replace(
    _ name: String, of entityName: String, by definition: Entity
  ) throws(AnnalsError) -> ReplacedProperty {
    let before = reader
    let entity = try before.entity(named: entityName)
    let old = try property(name, of: entity)
    var without = entity.removing(old)
    // Tells a later removal of this name, which a program declares, from this one.
    without.madeEdits.append(.renameProperty(entity: entity.name, name, to: name))
    define([without])
    var needed = definition
    needed.name = entity.name
    needed.displayName = entity.displayName?.hasSameBytes(as: name) == true ? name : nil
    let change = try AnnalsError.schema(
      reader.state, adding: Schema(entities: [needed]), [], timesDeclared: { _ in 0 }, [],
      tolerating: .missingValues)
    redefine(change.changed)
    guard let now = schema.entity(numbered: entity.number) else {
      throw .unknownEntity(entityName, in: schema)
    }
    let readable = entity.readableProperties.first { $0.number == old }
    return ReplacedProperty(
      before: before, old: old, readable: readable, entity: now, new: try property(name, of: now))
  }

  /// The most violations that are kept.
  private static let mostViolations = 1_000

  /// Sets a new property of an object to a value, if the property can have it. Values of another
  /// kind, and none where one is required, fail the transaction at its end.
  mutating func put(
    converted value: Value, of object: ObjectReference, _ replaced: ReplacedProperty
  ) throws(AnnalsError) {
    let (entity, property) = (replaced.entity, replaced.new)
    let rule: ValidationRule?
    if value.isErased {
      rule = nil
    } else if let attribute = entity.attribute(numbered: property) {
      rule =
        value.isNull
        ? (attribute.mustHaveValue ? .required : nil)
        : (attribute.type.admits(value.tag) ? nil : .type(attribute.type))
    } else if let relationship = entity.relationships.first(where: { $0.number == property }) {
      rule =
        value.isNull
        ? (relationship.isRequired ? .required : nil)
        : (relationship.admits(value) ? nil : .relationship(isToMany: relationship.isToMany))
    } else {
      rule = nil
    }
    if let rule {
      note(rule, value, of: property, object, entity)
    } else if !value.isNull {
      try store(value, in: property, row: object.row, of: object.entity)
    }
  }

  private mutating func note(
    _ rule: ValidationRule, _ value: Value, of property: PropertyNumber,
    _ object: ObjectReference, _ entity: Entity
  ) {
    guard violations.count < Draft.mostViolations else { return }
    violations.append(
      ValidationViolation(
        entity: entity.name, object: object,
        property: entity.propertyName(property) ?? "#\(property)", rule: rule, value: value))
  }

  // MARK: Values that must be there

  /// Notes a violation for each object that lacks a value which both the program's schema and the
  /// store's require. O(objects) for each such property; what is read is released on the way.
  package mutating func requireValues(of declared: Schema) throws {
    let reader = reader
    for entity in declared.entities where !entity.isRemoved {
      guard let stored = schema.entity(named: entity.name),
        reader.state.count(of: stored.number) > 0
      else { continue }
      let required =
        entity.attributes.filter { $0.mustHaveValue && $0.derivation == nil }.map(\.name)
        + entity.relationships.filter { $0.isRequired && !$0.isRemoved }.map(\.name)
      for name in required {
        guard let number = stored.propertyNumber(named: name),
          stored.attribute(numbered: number)?.mustHaveValue
            ?? stored.relationships.first(where: { $0.number == number })?.isRequired ?? false
        else { continue }
        let known = Set(
          violations.lazy.filter { $0.property.hasSameBytes(as: name) }.map(\.object))
        try reader.forEachValue(of: number, stored.number) { object, value in
          if value.isNull, !known.contains(object) {
            note(.required, .null, of: number, object, stored)
          }
          return violations.count < Draft.mostViolations
        }
      }
    }
  }
}

/// A property that another one has replaced: the old values, and the place of the new ones.
struct ReplacedProperty {
  /// Reads the state before.
  var before: StateReader
  /// The old property.
  var old: PropertyNumber
  /// How the old one is read.
  var readable: ReadableProperty?
  /// The entity with the new property.
  var entity: Entity
  var new: PropertyNumber

  /// Calls `body` with each object and its old value, complete; erased values as they are. What is
  /// read is released group by group.
  func forEachValue(_ body: (ObjectReference, Value) throws -> Void) throws {
    try before.forEachValue(of: old, entity.number) { object, stored in
      guard let readable, !stored.isErased else {
        try body(object, stored)
        return true
      }
      try body(object, before.value(of: readable) { stored })
      return true
    }
  }
}

extension StateReader {
  /// Calls `body` with each object of an entity and the stored value of a property, until it
  /// returns false. What is read for it is released group by group.
  func forEachValue(
    of property: PropertyNumber, _ entity: EntityNumber,
    _ body: (ObjectReference, Value) throws -> Bool
  ) throws {
    guard let table = state.table(entity) else { return }
    let column = table.column(of: property)
    var passing = PassingTable(table)
    var rows = state.rows(of: entity)
    while let row = try AnnalsError.translating({ try rows.next() }) {
      let part = passing.part(of: row)
      let stored = try AnnalsError.translating {
        try column.map { try part.value(row, column: $0) } ?? .null
      }
      guard try body(ObjectReference(entity: entity, row: row), stored) else { return }
    }
  }
}
