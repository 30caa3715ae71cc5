import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsState

/// The layout of a record type in a store: its properties, found by name in the store's newest
/// schema and from then on by number, so that renamed properties are found in the past.
///
/// Made once for each record type and version of the schema; reading and writing look up nothing.
package final class RecordLayout: Sendable {
  /// The entity's number.
  package let entity: EntityNumber
  package let entityName: String
  /// The columns of the properties, in the order of the record type.
  package let columns: ContiguousArray<RecordColumn>
  /// The stored definition of each property; nil for relationships and missing properties.
  let attributes: ContiguousArray<Attribute?>
  /// The names of the properties in the record type.
  package let names: ContiguousArray<String>
  /// The default that a stored null reads as; null if there is none.
  let defaults: ContiguousArray<Value>
  /// What erased values read as; nil if not specified.
  let valuesWhenErased: ContiguousArray<ErasedValue?>
  /// The names of the properties that the store lacks.
  package let missing: [String]
  /// Why the store lacks properties that it once had, or has them by another type, by the name in
  /// the record type.
  let reasonsMissing: [String: String]
  /// Properties that the store had by the name and the type of the record, and that are removed: of
  /// those that it now lacks, or has by another type. By the place in the record type.
  private let formers: [Int: PropertyNumber]
  /// The attributes that only the store has and that have a default, which a new object gets.
  let others: ContiguousArray<(property: PropertyNumber, value: Value)>
  /// The positions of the properties that the store derives.
  let derived: ContiguousArray<Int>
  /// Whether a value read back may differ from the one written: dates are rounded to microseconds,
  /// and unordered lists are sorted by id.
  let roundsValues: Bool

  init(
    _ stored: Entity, name: String, properties: ContiguousArray<PropertyDefinition>,
    history: [SchemaHistoryEntry], migrations: [MigrationRecord] = []
  ) {
    entity = stored.number
    entityName = name
    var columns: ContiguousArray<RecordColumn> = []
    var attributes: ContiguousArray<Attribute?> = []
    var defaults: ContiguousArray<Value> = []
    var missing: [String] = []
    var formers: [Int: PropertyNumber] = [:]
    var reasons: [String: String] = [:]
    for (place, property) in properties.enumerated() {
      var column = RecordColumn(property)
      var meaning = property.attribute.isOptional ? nil : property.attribute.defaultValue
      let attribute = property.relationship == nil ? stored.attribute(named: property.name) : nil
      if let attribute {
        column.bind(to: attribute)
        if !attribute.isOptional { meaning = attribute.defaultValue ?? meaning }
      } else if property.relationship != nil,
        let relationship = stored.relationship(named: property.name)
      {
        column.bind(to: relationship)
      } else {
        missing.append(property.name)
      }
      if !property.fits(stored) {
        formers[place] = property.former(in: stored)
        let isMissing = missing.last?.hasSameBytes(as: property.name) ?? false
        let former = isMissing ? history.formerProperty(property.name, of: stored) : nil
        reasons[property.name] =
          migrations.reason(property.name, of: stored, history) ?? former?.reason("property")
      }
      let value = meaning ?? .null
      column.hasDefault = !value.isNull
      columns.append(column)
      attributes.append(attribute)
      defaults.append(value)
    }
    self.columns = columns
    derived = ContiguousArray(columns.indices.filter { attributes[$0]?.derivation != nil })
    self.attributes = attributes
    self.defaults = defaults
    self.missing = missing
    self.formers = formers
    reasonsMissing = reasons
    roundsValues = columns.contains { $0.tag == .date || $0.isRelationship }
    names = ContiguousArray(properties.map(\.name))
    valuesWhenErased = ContiguousArray(properties.map(\.valueWhenErased))
    others = ContiguousArray(
      stored.defaults.filter { other in !columns.contains { $0.property == other.property } })
  }
}

extension RecordLayout {
  /// The number of the property at a place in the record type, for a state: in one from before a
  /// migration changed its type, that which it had then. 0 if there is none.
  func property(at place: Int, in state: State) -> PropertyNumber {
    let now = columns[place].property
    guard !formers.isEmpty, let former = formers[place],
      let then = state.schema.entity(numbered: entity), then.isLive(former)
    else { return now }
    return former
  }
}

extension PropertyDefinition {
  /// The name that the property has in an older schema, where the entity `now` of the newest lacks
  /// it, or has it by another type; nil if both have it, or neither has.
  func formerName(in now: Entity, _ then: Entity) -> String? {
    guard !fits(now), let number = former(in: now), then.isLive(number) else { return nil }
    return then.propertyName(number)
  }

  /// Whether the stored entity has the property by this name, with values that it can read.
  fileprivate func fits(_ stored: Entity) -> Bool {
    if relationship != nil { return stored.relationship(named: name) != nil }
    return stored.attribute(named: name).map(fits) ?? false
  }

  private func fits(_ stored: Attribute) -> Bool {
    stored.type.widens(to: attribute.type) || attribute.type.widens(to: stored.type)
  }

  /// The newest removed property of this name that it can read.
  fileprivate func former(in stored: Entity) -> PropertyNumber? {
    if relationship != nil {
      return stored.relationships.last {
        $0.isRemoved && $0.name.hasSameBytes(as: name)
          && $0.isToMany == relationship?.isToMany
      }?.number
    }
    return stored.attributes.last {
      $0.isRemoved && $0.name.hasSameBytes(as: name) && fits($0)
    }?.number
  }
}

extension Entity {
  /// Whether the entity has a property of this number that is not removed.
  fileprivate func isLive(_ number: PropertyNumber) -> Bool {
    attributes.contains { $0.number == number && !$0.isRemoved }
      || relationships.contains { $0.number == number && !$0.isRemoved }
  }
}

extension [MigrationRecord] {
  /// Which migration took a name away from the property that a program expects, in words; nil if
  /// none is known to have.
  fileprivate func reason(
    _ name: String, of stored: Entity, _ history: [SchemaHistoryEntry]
  ) -> String? {
    guard !isEmpty, let number = history.lastChange(of: name, in: stored) else { return nil }
    return first { $0.number == number }.map {
      "the migration \"\($0.name)\" (transaction \($0.number)) changed it"
    }
  }
}

/// What reading and writing one property needs, in few bytes.
package struct RecordColumn: Sendable {
  /// The stable number; 0 if the store lacks the property.
  package var property: PropertyNumber = 0
  /// The kind of values that the record type writes; null for any.
  var tag: ValueTag
  /// Whether the store accepts null.
  var isOptional = true
  /// Whether a stored null reads as a default.
  package var hasDefault = false
  var isRelationship = false
  var isToMany = false
  var isOrdered = false

  init(_ property: PropertyDefinition) {
    tag = property.attribute.type.tag ?? .null
    if let relationship = property.relationship {
      isRelationship = true
      isToMany = relationship.isToMany
      isOrdered = relationship.isOrdered
    }
  }

  mutating func bind(to attribute: Attribute) {
    property = attribute.number
    isOptional = attribute.isOptional
  }

  /// Whether the property can hold values of this kind.
  @inline(__always)
  func admits(_ kind: ValueTag) -> Bool {
    kind == tag || tag == .null && AttributeType.any.admits(kind)
  }

  mutating func bind(to relationship: Relationship) {
    property = relationship.number
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
  }
}
