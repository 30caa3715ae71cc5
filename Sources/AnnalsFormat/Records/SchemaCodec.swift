import AnnalsModel

/// Complete definitions of entities, as schema changes and directories hold them.
///
/// FORMAT.md, "Schema".
package enum SchemaCodec {
  /// Appends the definitions.
  package static func encode(_ entities: [Entity], into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: entities.count)
    for entity in entities { encode(entity, into: &bytes) }
  }

  /// Reads definitions, in rising order of their numbers.
  package static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> [Entity] {
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 7)
    var result: [Entity] = []
    for _ in 0..<count {
      let start = reader.offset
      let entity = try decodeEntity(&reader)
      if let last = result.last, entity.number <= last.number {
        throw .invalid(at: start, reason: "entities out of order")
      }
      result.append(entity)
    }
    return result
  }

  // Entity flags.
  private static let isRemoved: UInt8 = 1
  private static let hasDisplayName: UInt8 = 2
  private static let hasExtensions: UInt8 = 4

  private static func encode(_ entity: Entity, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(entity.number))
    bytes.append(
      (entity.isRemoved ? isRemoved : 0) | (entity.displayName == nil ? 0 : hasDisplayName)
        | (entity.extensions.isEmpty ? 0 : hasExtensions))
    bytes.append(string: entity.name)
    if let name = entity.displayName { bytes.append(string: name) }
    bytes.append(varInt: UInt64(entity.nextPropertyNumber))
    bytes.append(count: entity.attributes.count)
    for attribute in entity.attributes { encode(attribute, into: &bytes) }
    bytes.append(count: entity.relationships.count)
    for relationship in entity.relationships { encode(relationship, into: &bytes) }
    bytes.append(count: entity.indexes.count)
    for index in entity.indexes { encode(index, into: &bytes) }
    if !entity.extensions.isEmpty { ExtensionArea.append(entity.extensions, to: &bytes) }
  }

  private static func decodeEntity(_ reader: inout ByteReader) throws(DecodeFault) -> Entity {
    let number = try reader.readVarUInt32()
    guard number > 0 else { throw reader.invalid("an entity without a number") }
    let flags = try reader.readFlags(known: isRemoved | hasDisplayName | hasExtensions)
    var entity = Entity(try reader.readString())
    entity.number = number
    entity.isRemoved = flags & isRemoved != 0
    if flags & hasDisplayName != 0 { entity.displayName = try reader.readString() }
    entity.nextPropertyNumber = try reader.readVarUInt32()
    guard entity.nextPropertyNumber <= FormatLimits.maximumPropertyNumber + 1 else {
      throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumPropertyNumber))
    }
    let limit = Int(FormatLimits.maximumPropertyNumber)
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 4)) {
      entity.attributes.append(try decodeAttribute(&reader, in: entity))
    }
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 4)) {
      entity.relationships.append(try decodeRelationship(&reader, in: entity))
    }
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 5)) {
      entity.indexes.append(try decodeIndex(&reader, in: entity))
    }
    if flags & hasExtensions != 0 {
      entity.extensions = try ExtensionArea.read(&reader)
      guard !entity.extensions.isEmpty else { throw reader.invalid("an empty extension area") }
    }
    guard hasDistinctNumbers(entity) else { throw reader.invalid("a property number given twice") }
    return entity
  }

  /// Whether attributes, relationships and indexes, each rising, have no number in common.
  private static func hasDistinctNumbers(_ entity: Entity) -> Bool {
    if entity.relationships.isEmpty, entity.indexes.isEmpty { return true }
    let numbers =
      entity.attributes.map(\.number) + entity.relationships.map(\.number)
      + entity.indexes.map(\.number)
    return Set(numbers).count == numbers.count
  }

  /// Reads the number of a property or index: it was given out, and rises within its list.
  private static func readNumber(
    _ reader: inout ByteReader, after last: PropertyNumber?, in entity: Entity
  ) throws(DecodeFault) -> PropertyNumber {
    let start = reader.offset
    let number = try reader.readVarUInt32()
    guard number > last ?? 0, number < entity.nextPropertyNumber else {
      throw .invalid(at: start, reason: "a property number that was not given out")
    }
    return number
  }
}

// Attributes.
extension SchemaCodec {
  private static let isOptional: UInt8 = 1
  private static let isUnique: UInt8 = 2
  private static let isPreserved: UInt8 = 4
  private static let isAttributeRemoved: UInt8 = 8
  private static let hasDefault: UInt8 = 16
  private static let hasValidation: UInt8 = 32

  private static func encode(_ attribute: Attribute, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(attribute.number))
    bytes.append(string: attribute.name)
    bytes.append(attribute.type.rawValue)
    bytes.append(
      (attribute.isOptional ? isOptional : 0) | (attribute.isUnique ? isUnique : 0)
        | (attribute.isPreservedAfterDeletion ? isPreserved : 0)
        | (attribute.isRemoved ? isAttributeRemoved : 0)
        | (attribute.defaultValue == nil ? 0 : hasDefault)
        | (attribute.validation.isEmpty ? 0 : hasValidation))
    if let value = attribute.defaultValue { ValueCodec.encode(value, into: &bytes) }
    if !attribute.validation.isEmpty { encode(attribute.validation, into: &bytes) }
  }

  private static func decodeAttribute(
    _ reader: inout ByteReader, in entity: Entity
  ) throws(DecodeFault) -> Attribute {
    let number = try readNumber(&reader, after: entity.attributes.last?.number, in: entity)
    let name = try reader.readString()
    guard let type = AttributeType(rawValue: try reader.readUInt8()) else {
      throw reader.invalid("an unknown type of attribute")
    }
    let flags = try reader.readFlags(known: 63)
    var attribute = Attribute(name, type)
    attribute.number = number
    attribute.isOptional = flags & isOptional != 0
    attribute.isUnique = flags & isUnique != 0
    attribute.isPreservedAfterDeletion = flags & isPreserved != 0
    attribute.isRemoved = flags & isAttributeRemoved != 0
    if flags & hasDefault != 0 { attribute.defaultValue = try decodeValue(&reader) }
    if flags & hasValidation != 0 { attribute.validation = try decodeValidation(&reader) }
    return attribute
  }

  /// Reads a value that an attribute may have, so no reference.
  private static func decodeValue(_ reader: inout ByteReader) throws(DecodeFault) -> Value {
    let start = reader.offset
    let value = try ValueCodec.decode(&reader)
    guard value.tag != .object, value.tag != .objects else {
      throw .invalid(at: start, reason: "a reference as the value of an attribute")
    }
    return value
  }

  private static func encode(_ rules: Validation, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(
      (rules.minimum == nil ? 0 : 1) | (rules.maximum == nil ? 0 : 2)
        | (rules.minimumLength == nil ? 0 : 4) | (rules.maximumLength == nil ? 0 : 8)
        | (rules.oneOf.isEmpty ? 0 : 16))
    if let value = rules.minimum { ValueCodec.encode(value, into: &bytes) }
    if let value = rules.maximum { ValueCodec.encode(value, into: &bytes) }
    if let length = rules.minimumLength { bytes.append(zigzag: length) }
    if let length = rules.maximumLength { bytes.append(zigzag: length) }
    if !rules.oneOf.isEmpty {
      bytes.append(count: rules.oneOf.count)
      for value in rules.oneOf { ValueCodec.encode(value, into: &bytes) }
    }
  }

  private static func decodeValidation(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> Validation {
    let flags = try reader.readFlags(known: 31)
    guard flags != 0 else { throw reader.invalid("a validation without a rule") }
    var rules = Validation()
    if flags & 1 != 0 { rules.minimum = try decodeValue(&reader) }
    if flags & 2 != 0 { rules.maximum = try decodeValue(&reader) }
    if flags & 4 != 0 { rules.minimumLength = try reader.readZigzag() }
    if flags & 8 != 0 { rules.maximumLength = try reader.readZigzag() }
    if flags & 16 != 0 {
      let count = try reader.readCount(limit: FormatLimits.maximumChanges)
      guard count > 0 else { throw reader.invalid("an empty list of values") }
      for _ in 0..<count { rules.oneOf.append(try decodeValue(&reader)) }
    }
    return rules
  }
}

// Relationships and indexes.
extension SchemaCodec {
  private static func encode(
    _ relationship: Relationship, into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(varInt: UInt64(relationship.number))
    bytes.append(string: relationship.name)
    bytes.append(
      (relationship.isToMany ? 1 : 0) | (relationship.isOrdered ? 2 : 0)
        | (relationship.isRemoved ? 4 : 0))
    bytes.append(varInt: UInt64(relationship.destination))
  }

  private static func decodeRelationship(
    _ reader: inout ByteReader, in entity: Entity
  ) throws(DecodeFault) -> Relationship {
    let number = try readNumber(&reader, after: entity.relationships.last?.number, in: entity)
    let name = try reader.readString()
    let flags = try reader.readFlags(known: 7)
    var relationship = Relationship(
      name, to: "", isToMany: flags & 1 != 0, isOrdered: flags & 2 != 0)
    relationship.number = number
    relationship.isRemoved = flags & 4 != 0
    relationship.destination = try reader.readVarUInt32()
    return relationship
  }

  private static func encode(
    _ index: IndexDescription, into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(varInt: UInt64(index.number))
    bytes.append(string: index.name)
    bytes.append(index.isUnique ? 1 : 0)
    bytes.append(index.collation)
    bytes.append(count: index.elements.count)
    for element in index.elements {
      bytes.append(varInt: UInt64(element.property))
      bytes.append(element.isDescending ? 1 : 0)
    }
  }

  private static func decodeIndex(
    _ reader: inout ByteReader, in entity: Entity
  ) throws(DecodeFault) -> IndexDescription {
    let number = try readNumber(&reader, after: entity.indexes.last?.number, in: entity)
    let name = try reader.readString()
    let flags = try reader.readFlags(known: 1)
    guard try reader.readUInt8() == 0 else { throw reader.invalid("an unknown collation") }
    var elements: [IndexElement] = []
    let limit = Int(FormatLimits.maximumPropertyNumber)
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 2)) {
      var element = IndexElement("")
      element.property = try reader.readVarUInt32()
      element.isDescending = try reader.readFlags(known: 1) == 1
      elements.append(element)
    }
    var index = IndexDescription(name, elements, isUnique: flags == 1)
    index.number = number
    return index
  }
}
