import AnnalsFormat
import AnnalsModel

/// The layout of a record type in a store: its properties, found by name in the store's newest
/// schema and from then on by number, so that renamed properties are found in the past.
///
/// Made once for each record type and version of the schema; reading and writing look up nothing.
package final class RecordLayout: Sendable {
  /// The entity's number.
  package let entity: EntityNumber
  package let entityName: String
  /// The columns of the properties, in the order of the record type.
  let columns: ContiguousArray<RecordColumn>
  /// The stored definition of each property; nil for relationships and missing properties.
  let attributes: ContiguousArray<Attribute?>
  /// The names of the properties in the record type.
  let names: ContiguousArray<String>
  /// The default that a stored null reads as; null if there is none.
  let defaults: ContiguousArray<Value>
  /// What erased values read as; nil if not specified.
  let valuesWhenErased: ContiguousArray<ErasedValue?>
  /// The names of the properties that the store lacks.
  package let missing: [String]
  /// Why the store lacks properties that it once had, by the name in the record type.
  let reasonsMissing: [String: String]
  /// The attributes that only the store has and that have a default, which a new object gets.
  let others: ContiguousArray<(property: PropertyNumber, value: Value)>
  /// Whether a value read back may differ from the one written: dates are rounded to microseconds,
  /// and unordered lists are sorted by id.
  let roundsValues: Bool

  init(
    _ stored: Entity, name: String, properties: ContiguousArray<PropertyDefinition>,
    history: [SchemaHistoryEntry]
  ) {
    entity = stored.number
    entityName = name
    var columns: ContiguousArray<RecordColumn> = []
    var attributes: ContiguousArray<Attribute?> = []
    var defaults: ContiguousArray<Value> = []
    var missing: [String] = []
    for property in properties {
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
      let value = meaning ?? .null
      column.hasDefault = !value.isNull
      columns.append(column)
      attributes.append(attribute)
      defaults.append(value)
    }
    self.columns = columns
    self.attributes = attributes
    self.defaults = defaults
    self.missing = missing
    reasonsMissing = missing.reduce(into: [:]) { reasons, name in
      reasons[name] = history.formerProperty(name, of: stored)?.reason("property")
    }
    roundsValues = columns.contains { $0.tag == .date || $0.isRelationship }
    names = ContiguousArray(properties.map(\.name))
    valuesWhenErased = ContiguousArray(properties.map(\.valueWhenErased))
    others = ContiguousArray(
      stored.defaults.filter { other in !columns.contains { $0.property == other.property } })
  }
}

/// What reading and writing one property needs, in few bytes.
struct RecordColumn: Sendable {
  /// The stable number; 0 if the store lacks the property.
  var property: PropertyNumber = 0
  /// The kind of values that the record type writes; null for any.
  var tag: ValueTag
  /// Whether the store accepts null.
  var isOptional = true
  /// Whether a stored null reads as a default.
  var hasDefault = false
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
