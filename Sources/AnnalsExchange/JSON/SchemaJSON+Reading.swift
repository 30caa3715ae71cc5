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
        for position in entity.indexes[place].elements.indices {
          let element = entity.indexes[place].elements[position]
          guard element.property == 0 else { continue }
          guard
            entity.attribute(named: element.propertyName) != nil
              || entity.relationship(named: element.propertyName) != nil
          else {
            throw reader.fault(
              "index \(entity.name).\(entity.indexes[place].name) names \(element.propertyName), "
                + "which is no property"
            )
          }
          schema.entities[index].indexes[place].elements[position].property =
            entity.propertyNumber(named: element.propertyName) ?? 0
        }
        for position in entity.indexes[place].tests.indices
        where entity.indexes[place].tests[position].property == 0 {
          let name = entity.indexes[place].tests[position].propertyName
          guard let attribute = entity.attribute(named: name) else {
            throw reader.fault(
              "index \(entity.name).\(entity.indexes[place].name) is of objects by \(name), which "
                + "is no attribute")
          }
          schema.entities[index].indexes[place].tests[position].property = attribute.number
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
      case "attributes": entity.attributes = try list(reader, value, name, attribute)
      case "relationships": entity.relationships = try list(reader, value, name, relationship)
      case "indexes": entity.indexes = try list(reader, value, name, index)
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
    let properties =
      entity.attributes.map { ($0.name, $0.number, $0.isRemoved) }
      + entity.relationships.map { ($0.name, $0.number, $0.isRemoved) }
    for (name, number, isRemoved) in properties {
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

  private static func attribute(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> Attribute {
    var attribute = Attribute("", .any)
    // Values are kept as text until the type is known.
    var later: [(name: String, text: ContiguousArray<UInt8>)] = []
    var hasType = false
    try reader.members(token, of: "an attribute") { (name, value) throws(InputFault) in
      switch name {
      case "name": attribute.name = try reader.text(value, of: name)
      case "number": attribute.number = try reader.stableNumber(value)
      case "type":
        attribute.type = try reader.attributeType(value)
        hasType = true
      case "optional": attribute.isOptional = try reader.flag(value, of: name)
      case "unique": attribute.isUnique = try reader.flag(value, of: name)
      case "preservedAfterDeletion":
        attribute.isPreservedAfterDeletion = try reader.flag(value, of: name)
      case "removed": attribute.isRemoved = try reader.flag(value, of: name)
      case "minimumLength": attribute.validation.minimumLength = try reader.whole(value, of: name)
      case "maximumLength": attribute.validation.maximumLength = try reader.whole(value, of: name)
      case "default", "minimum", "maximum", "oneOf":
        later.append((name, try reader.compactText(value)))
      default: return false
      }
      return true
    }
    guard hasType else { throw reader.fault("attribute \(attribute.name) has no type") }
    for (name, text) in later {
      let values = try self.values(text, name, of: attribute, reader)
      switch name {
      case "default": attribute.defaultValue = values.first
      case "minimum": attribute.validation.minimum = values.first
      case "maximum": attribute.validation.maximum = values.first
      default: attribute.validation.oneOf = values
      }
    }
    return attribute
  }

  /// The value of a default or a rule, or the values of `oneOf`.
  private static func values(
    _ text: ContiguousArray<UInt8>, _ name: String, of attribute: Attribute, _ reader: JSONReader
  ) throws(InputFault) -> [Value] {
    let inner = JSONReader(MemorySource(text), framing: .document)
    var values: [Value] = []
    func read(_ token: JSONToken) throws(InputFault) {
      let value: Value?
      do throws(InputFault) {
        value = try inner.value(token, for: attribute.type)
      } catch {
        throw reader.fault("\(name) of \(attribute.name): \(error.reason)")
      }
      guard let value, !value.isNull else {
        throw reader.fault("\(name) of \(attribute.name) is no value of type \(attribute.type)")
      }
      values.append(value)
    }
    let first = try inner.next()
    if name == "oneOf" {
      try inner.elements(first, of: name) { (item) throws(InputFault) in try read(item) }
    } else {
      try read(first)
    }
    return values
  }

  private static func relationship(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> Relationship {
    var relationship = Relationship("", to: "")
    try reader.members(token, of: "a relationship") { (name, value) throws(InputFault) in
      switch name {
      case "name": relationship.name = try reader.text(value, of: name)
      case "number": relationship.number = try reader.stableNumber(value)
      case "to": relationship.destinationName = try reader.text(value, of: name)
      case "toNumber": relationship.destination = try reader.stableNumber(value)
      case "optional": relationship.isOptional = try reader.flag(value, of: name)
      case "toMany": relationship.isToMany = try reader.flag(value, of: name)
      case "ordered": relationship.isOrdered = try reader.flag(value, of: name)
      case "removed": relationship.isRemoved = try reader.flag(value, of: name)
      default: return false
      }
      return true
    }
    guard !relationship.destinationName.isEmpty else {
      throw reader.fault("relationship \(relationship.name) does not say to which entity")
    }
    return relationship
  }

  private static func index(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> IndexDescription {
    var index = IndexDescription("", [])
    try reader.members(token, of: "an index") { (name, value) throws(InputFault) in
      switch name {
      case "name": index.name = try reader.text(value, of: name)
      case "number": index.number = try reader.stableNumber(value)
      case "unique": index.isUnique = try reader.flag(value, of: name)
      case "on": index.elements = try list(reader, value, name, element)
      case "where": index.tests = try list(reader, value, name, test)
      default:
        guard let kind = IndexKind(named: name) else { return false }
        if try reader.flag(value, of: name) { index.kind = kind }
      }
      return true
    }
    guard !index.elements.isEmpty else {
      throw reader.fault("index \(index.name) is on no property")
    }
    return index
  }

  private static func test(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> IndexTest {
    var test = IndexTest("", .equal, .null)
    try reader.members(token, of: "a comparison") { (name, value) throws(InputFault) in
      switch name {
      case "property": test.propertyName = try reader.text(value, of: name)
      case "number": test.property = try reader.stableNumber(value)
      case "is":
        let text = try reader.text(value, of: name)
        guard
          let comparison = Condition.Comparison.allCases.first(where: {
            $0.description.hasSameBytes(as: text)
          })
        else { throw reader.fault("`\(text)` is none of ==, !=, <, <=, > and >=") }
        test.comparison = comparison
      case "value": test.value = try reader.value(value, for: .any) ?? .null
      default: return false
      }
      return true
    }
    return test
  }

  private static func element(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> IndexElement {
    var element = IndexElement("")
    var nullsFirst: Bool?
    try reader.members(token, of: "an index's property") { (name, value) throws(InputFault) in
      switch name {
      case "property": element.propertyName = try reader.text(value, of: name)
      case "number": element.property = try reader.stableNumber(value)
      case "descending": element.isDescending = try reader.flag(value, of: name)
      case "nullsFirst": nullsFirst = try reader.flag(value, of: name)
      default: return false
      }
      return true
    }
    if let nullsFirst { element.nullsFirst = nullsFirst }
    return element
  }
}
