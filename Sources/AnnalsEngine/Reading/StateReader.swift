import AnnalsModel
import AnnalsState

/// Reads objects from one state, for snapshots and write transactions.
@usableFromInline
package struct StateReader: Sendable {
  package var state: State
  package let store: RawUUID
  package let largeValues: any LargeValueSource
  /// The number of the state's transaction if the schema has changed since; for messages.
  package var pastNumber: Int64?

  package init(state: State, store: RawUUID, largeValues: any LargeValueSource) {
    self.state = state
    self.store = store
    self.largeValues = largeValues
  }

  /// The entity of this name.
  ///
  /// Throws `.invalidArgument`, with a list of the entities, if there is none.
  package func entity(named name: String) throws(AnnalsError) -> Entity {
    if let entity = state.schema.entity(named: name) { return entity }
    throw .unknownEntity(name, in: state.schema)
  }

  /// The object; nil if it does not exist in this state. Throws `.otherStore` if it is one of
  /// another store. Without `readingLargeValues`, these are references. A reference to an object
  /// that is gone is null, unless `keepsGone` is set.
  package func object(
    _ id: ObjectID, readingLargeValues: Bool = true, keepsGone: Bool = false
  ) throws(AnnalsError) -> DynamicObject? {
    try id.requireOwn(store)
    guard let entity = state.schema.entity(numbered: id.entity),
      !entity.isRemoved
    else { return nil }
    return try object(
      id.row, of: entity, readingLargeValues: readingLargeValues, keepsGone: keepsGone)
  }

  /// The object in this row; nil if the row is empty.
  package func object(
    _ row: Int64, of entity: Entity, properties: [String]? = nil, readingLargeValues: Bool = true,
    keepsGone: Bool = false
  ) throws(AnnalsError) -> DynamicObject? {
    let exists = try AnnalsError.translating { try state.contains(entity.number, row) }
    guard exists else { return nil }
    var values: [(property: PropertyNumber, value: Value)] = []
    for property in entity.readableProperties {
      if let properties, !properties.contains(where: { $0.hasSameBytes(as: property.name) }) {
        continue
      }
      let value = try value(of: property, readingLargeValues, keepsGone: keepsGone) {
        try state.value(entity.number, row, property.number)
      }
      if !value.isNull { values.append((property.number, value)) }
    }
    return DynamicObject(
      objectID: ObjectID(store: store, entity: entity.number, row: row), entity: entity,
      values: values)
  }

  /// The value of one property, or null; with its bytes, unless `readingLargeValues` is false. For
  /// a required attribute that was added after the object, its default.
  func value(
    of property: ReadableProperty, _ readingLargeValues: Bool = true, keepsGone: Bool = false,
    _ read: () throws -> Value
  ) throws(AnnalsError) -> Value {
    let stored = try AnnalsError.translating(read)
    switch stored {
    case .null: return property.impliedDefault ?? .null
    // A lost large value stays a reference, so that the rest of the object can be read.
    case .large: return readingLargeValues ? try largeValues.complete(stored) ?? stored : stored
    case .object(let reference):
      if keepsGone { return stored }
      return try state.holds(reference) ? stored : .null
    default: return stored
    }
  }

  /// How many objects the entity has.
  package func count(of name: String) throws(AnnalsError) -> Int {
    state.count(of: try entity(named: name).number)
  }

  /// Runs `body` on each object of the entity, in id order.
  package func forEachObject(
    of entity: Entity, properties: [String]? = nil, _ body: (DynamicObject) throws -> Void
  ) throws {
    try forEachRow(of: entity.number) { row in
      if let object = try object(row, of: entity, properties: properties) { try body(object) }
    }
  }

  /// As `forEachObject(of:)`, but releases the chunks it has loaded after each group of rows.
  package func forEachObject(
    inPassing entity: Entity, _ body: (DynamicObject) throws -> Void
  ) throws {
    guard let table = state.table(entity.number) else { return }
    let columns = entity.readableProperties.map { ($0, table.column(of: $0.number)) }
    var passing = PassingTable(table)
    try forEachRow(of: entity.number) { row in
      let part = passing.part(of: row)
      var values: [(property: PropertyNumber, value: Value)] = []
      for (property, column) in columns {
        let value = try value(of: property) {
          try column.map { try part.value(row, column: $0) } ?? .null
        }
        if !value.isNull { values.append((property.number, value)) }
      }
      try body(
        DynamicObject(
          objectID: ObjectID(store: store, entity: entity.number, row: row), entity: entity,
          values: values))
    }
  }

  /// Runs `body` on each occupied row of the entity, rising.
  package func forEachRow(of entity: EntityNumber, _ body: (Int64) throws -> Void) throws {
    var rows = state.rows(of: entity)
    while true {
      let row = try AnnalsError.translating { try rows.next() }
      guard let row else { return }
      try body(row)
    }
  }

  /// The row of the object whose unique attribute has this value; nil if there is none.
  ///
  /// Throws `.invalidArgument` if the attribute is not unique.
  package func row(
    of entity: Entity, where attribute: String, is value: Value
  ) throws(AnnalsError) -> Int64? {
    guard let found = entity.attribute(named: attribute), found.isUnique else {
      throw .notUnique(attribute, of: entity)
    }
    return try AnnalsError.translating {
      try state.lookup(entity.number, rule: found.number, value: value)
    }
  }
}

/// A property of an entity that readers see.
package struct ReadableProperty: Sendable {
  package var number: PropertyNumber
  package var name: String
  /// The value of objects older than the property; nil if they have none.
  package var impliedDefault: Value?
}

extension Entity {
  /// The properties that are not removed, by rising number.
  package var readableProperties: [ReadableProperty] {
    var result: [ReadableProperty] = []
    for attribute in attributes where !attribute.isRemoved {
      result.append(
        ReadableProperty(
          number: attribute.number, name: attribute.name,
          impliedDefault: attribute.isOptional ? nil : attribute.defaultValue))
    }
    for relationship in relationships where !relationship.isRemoved {
      result.append(ReadableProperty(number: relationship.number, name: relationship.name))
    }
    return result.sorted { $0.number < $1.number }
  }
}

extension Value {
  /// The value of this kind with these bytes: string, url, data or json.
  package init(bytes: ContiguousArray<UInt8>, tag: ValueTag) {
    switch tag {
    case .string: self = .string(String(decoding: bytes, as: UTF8.self))
    case .url: self = .url(String(decoding: bytes, as: UTF8.self))
    case .json: self = .json(String(decoding: bytes, as: UTF8.self))
    default: self = .data(Array(bytes))
    }
  }
}
