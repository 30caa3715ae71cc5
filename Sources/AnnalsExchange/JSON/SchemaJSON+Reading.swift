import AnnalsModel

extension SchemaJSON {
  /// Reads a schema from one JSON text.
  ///
  /// - Throws: `InputFault` for bad JSON, an unknown or repeated name, a wrong kind.
  package static func read(_ source: any ByteSource) throws(InputFault) -> Schema {
    let reader = JSONReader(source, framing: .document)
    guard try reader.beginDocument() else { throw reader.fault("there is no schema") }
    let schema = try read(reader, reader.next())
    try reader.endDocument()
    return schema
  }

  /// Reads the schema that begins with `token`.
  package static func read(_ reader: JSONReader, _ token: JSONToken) throws(InputFault) -> Schema {
    var schema = Schema()
    try reader.members(token, of: "a schema") { (name, value) throws(InputFault) in
      guard name == "entities" else { return false }
      schema.entities = try list(reader, value, name, entity)
      return true
    }
    var names: Set<ContiguousArray<UInt8>> = []
    var numbers: Set<EntityNumber> = []
    for entity in schema.entities {
      guard entity.number == 0 || numbers.insert(entity.number).inserted else {
        throw reader.fault("two entities have the number \(entity.number)")
      }
      guard entity.isRemoved || names.insert(ContiguousArray(entity.name.utf8)).inserted else {
        throw reader.fault("two entities are named \(entity.name)")
      }
    }
    try resolve(&schema, reader)
    resolveDerivations(&schema)
    return schema
  }

  /// Replaces names by numbers in relationships and indexes where only names were given and the
  /// numbers are known.
  private static func resolve(_ schema: inout Schema, _ reader: JSONReader) throws(InputFault) {
    for index in schema.entities.indices {
      for place in schema.entities[index].relationships.indices {
        let relationship = schema.entities[index].relationships[place]
        guard relationship.destination == 0 else { continue }
        let target = schema.entity(named: relationship.destinationName)
        schema.entities[index].relationships[place].destination = target?.number ?? 0
      }
      let entity = schema.entities[index]
      for place in entity.indexes.indices {
        let title = "index \(entity.name).\(entity.indexes[place].name)"
        try schema.entities[index].indexes[place].updateReferences {
          (name, number, isTested) throws(InputFault) in
          guard number == 0 else { return }
          if let attribute = entity.attribute(named: name) {
            number = attribute.number
          } else if isTested {
            throw reader.fault("\(title) is of objects by \(name), which is no attribute")
          } else if let relationship = entity.relationship(named: name) {
            number = relationship.number
          } else {
            throw reader.fault("\(title) names \(name), which is no property")
          }
        }
      }
    }
  }

  /// As `resolve`, for what attributes are derived from; when the numbers of all relationships are
  /// known.
  private static func resolveDerivations(_ schema: inout Schema) {
    for index in schema.entities.indices where schema.entities[index].hasDerivations {
      let entity = schema.entities[index]
      for place in entity.attributes.indices {
        guard let derivation = entity.attributes[place].derivation, !derivation.isNumbered else {
          continue
        }
        let (numbered, problem) = schema.numbering(derivation, of: entity)
        if problem == nil, numbered.isNumbered {
          schema.entities[index].attributes[place].derivation = numbered
        }
      }
    }
  }

  static func list<Item>(
    _ reader: JSONReader, _ token: JSONToken, _ name: String,
    _ read: (JSONReader, JSONToken) throws(InputFault) -> Item
  ) throws(InputFault) -> [Item] {
    var items: [Item] = []
    try reader.elements(token, of: name) { (item) throws(InputFault) in
      items.append(try read(reader, item))
    }
    return items
  }

  private static func entity(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> Entity {
    let change = try self.change(reader, token)
    guard !change.isPartial else {
      throw reader.fault("\(change.definition.name) is partial, which only a change is")
    }
    return change.definition
  }

  /// Reads an entity, or what changed of one.
  static func change(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> EntityChange {
    var entity = Entity("")
    var next: PropertyNumber = 0
    var isPartial = false
    var dropped: [PropertyNumber] = []
    try reader.members(token, of: "an entity") { (name, value) throws(InputFault) in
      switch name {
      case "name": entity.name = try reader.text(value, of: name)
      case "number": entity.number = try reader.stableNumber(value)
      case "display": entity.displayName = try reader.text(value, of: name)
      case "removed": entity.isRemoved = try reader.flag(value, of: name)
      case "nextNumber": next = try reader.stableNumber(value)
      case "attributes": entity.attributes = try list(reader, value, name, definition)
      case "relationships": entity.relationships = try list(reader, value, name, definition)
      case "indexes": entity.indexes = try list(reader, value, name, definition)
      case "edits": entity.madeEdits = try list(reader, value, name, edit)
      case "partial": isPartial = try reader.flag(value, of: name)
      case "droppedIndexes":
        dropped = try list(reader, value, name) { reader, token throws(InputFault) in
          try reader.stableNumber(token)
        }
      default: return false
      }
      return true
    }
    guard !entity.name.isEmpty else { throw reader.fault("an entity has no name") }
    guard entity.number <= SchemaLimits.entities else {
      throw reader.fault(
        "the number of \(entity.name) is \(entity.number); the most is \(SchemaLimits.entities)")
    }
    guard next <= SchemaLimits.properties + 1 else {
      throw reader.fault(
        "the next number of \(entity.name) is \(next), beyond \(SchemaLimits.properties + 1)")
    }
    try check(entity, reader)
    entity.nextPropertyNumber = max(next, entity.highestPropertyNumber + 1)
    var change = EntityChange(entity)
    change.isPartial = isPartial
    change.droppedIndexes = dropped.sorted()
    return change
  }

  /// Reads an edit that was made: its kind, and its names.
  private static func edit(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> SchemaEdit {
    let words = try list(reader, token, "edits") { reader, token throws(InputFault) in
      try reader.text(token, of: "edits")
    }
    let kinds: [SchemaEdit.Kind] = [
      .renameEntity, .renameProperty, .removeEntity, .removeProperty, .removeIndex,
    ]
    guard let kind = kinds.first(where: { "\($0)" == words.first }),
      let edit = SchemaEdit(kind, Array(words.dropFirst()))
    else { throw reader.fault("\(words.first ?? "an empty list") is no edit with its names") }
    return edit
  }

  /// Checks that names and numbers of properties are unique.
  private static func check(_ entity: Entity, _ reader: JSONReader) throws(InputFault) {
    var names: Set<ContiguousArray<UInt8>> = []
    var numbers: Set<PropertyNumber> = []
    for (number, name, isRemoved) in entity.properties {
      guard !name.isEmpty else { throw reader.fault("a property of \(entity.name) has no name") }
      guard isRemoved || names.insert(ContiguousArray(name.utf8)).inserted else {
        throw reader.fault("two properties of \(entity.name) are named \(name)")
      }
      guard number == 0 || numbers.insert(number).inserted else {
        throw reader.fault("two properties of \(entity.name) have the number \(number)")
      }
      try check(number, of: "\(entity.name).\(name)", reader)
    }
    for index in entity.indexes where index.number > 0 {
      guard numbers.insert(index.number).inserted else {
        throw reader.fault("two properties of \(entity.name) have the number \(index.number)")
      }
      try check(index.number, of: "\(entity.name).\(index.name)", reader)
    }
  }

  /// Checks that a property's number is within the limit.
  private static func check(
    _ number: PropertyNumber, of place: String, _ reader: JSONReader
  ) throws(InputFault) {
    guard number <= SchemaLimits.properties else {
      throw reader.fault(
        "the number of \(place) is \(number); the most is \(SchemaLimits.properties)")
    }
  }

  private static func definition<D: Definition>(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> D {
    D(try reader.members(token, D.shape))
  }
}
