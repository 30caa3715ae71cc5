import AnnalsModel

// Definitions of properties and indexes: FORMAT.md, "Schema".

// Attributes.
extension SchemaCodec {
  private static let isOptional: UInt8 = 1
  private static let isUnique: UInt8 = 2
  private static let isPreserved: UInt8 = 4
  private static let isAttributeRemoved: UInt8 = 8
  private static let hasDefault: UInt8 = 16
  private static let hasValidation: UInt8 = 32
  private static let hasAttributeExtensions: UInt8 = 64

  static func encode(_ attribute: Attribute, into bytes: inout ContiguousArray<UInt8>) {
    let extensions = DerivationCodec.area(of: attribute)
    bytes.append(varInt: UInt64(attribute.number))
    bytes.append(string: attribute.name)
    bytes.append(attribute.type.rawValue)
    bytes.append(
      (attribute.isOptional ? isOptional : 0) | (attribute.isUnique ? isUnique : 0)
        | (attribute.isPreservedAfterDeletion ? isPreserved : 0)
        | (attribute.isRemoved ? isAttributeRemoved : 0)
        | (attribute.defaultValue == nil ? 0 : hasDefault)
        | (attribute.validation.isEmpty ? 0 : hasValidation)
        | (extensions.isEmpty ? 0 : hasAttributeExtensions))
    if let value = attribute.defaultValue { ValueCodec.encode(value, into: &bytes) }
    if !attribute.validation.isEmpty { encode(attribute.validation, into: &bytes) }
    if !extensions.isEmpty { ExtensionArea.append(extensions, to: &bytes) }
  }

  static func decodeAttribute(
    _ reader: inout ByteReader, in entity: Entity
  ) throws(DecodeFault) -> Attribute {
    let number = try readNumber(&reader, after: entity.attributes.last?.number, in: entity)
    let name = try reader.readString()
    guard let type = AttributeType(rawValue: try reader.readUInt8()) else {
      throw reader.newer("a type of attribute")
    }
    let flags = try reader.readFlags(known: 127)
    var attribute = Attribute(name, type)
    attribute.number = number
    attribute.isOptional = flags & isOptional != 0
    attribute.isUnique = flags & isUnique != 0
    attribute.isPreservedAfterDeletion = flags & isPreserved != 0
    attribute.isRemoved = flags & isAttributeRemoved != 0
    if flags & hasDefault != 0 { attribute.defaultValue = try decodeValue(&reader) }
    if flags & hasValidation != 0 { attribute.validation = try decodeValidation(&reader) }
    if flags & hasAttributeExtensions != 0 {
      let area = try ExtensionArea.readSome(&reader)
      attribute.extensions = try DerivationCodec.adopt(area, into: &attribute, at: reader)
    }
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

  /// The rules of a validation that this version knows.
  private static let knownRules: UInt8 = 31

  private static func encode(_ rules: Validation, into bytes: inout ContiguousArray<UInt8>) {
    var body: ContiguousArray<UInt8> = []
    body.append(
      (rules.minimum == nil ? 0 : 1) | (rules.maximum == nil ? 0 : 2)
        | (rules.minimumLength == nil ? 0 : 4) | (rules.maximumLength == nil ? 0 : 8)
        | (rules.oneOf.isEmpty ? 0 : 16) | rules.laterFlags)
    if let value = rules.minimum { ValueCodec.encode(value, into: &body) }
    if let value = rules.maximum { ValueCodec.encode(value, into: &body) }
    if let length = rules.minimumLength { body.append(zigzag: length) }
    if let length = rules.maximumLength { body.append(zigzag: length) }
    if !rules.oneOf.isEmpty {
      body.append(count: rules.oneOf.count)
      for value in rules.oneOf { ValueCodec.encode(value, into: &body) }
    }
    body += rules.laterRules
    body.withUnsafeBytes { bytes.append(sized: $0) }
  }

  private static func decodeValidation(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> Validation {
    try reader.readSized { (reader) throws(DecodeFault) in
      let flags = try reader.readUInt8()
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
      rules.laterFlags = flags & ~knownRules
      if rules.laterFlags != 0 {
        rules.laterRules = ContiguousArray(try reader.readBytes(reader.remaining))
      }
      return rules
    }
  }
}

// Relationships and indexes.
extension SchemaCodec {
  static func encode(_ relationship: Relationship, into bytes: inout ContiguousArray<UInt8>) {
    let extensions = DefinitionItems.area(of: relationship, besides: relationship.extensions)
    bytes.append(varInt: UInt64(relationship.number))
    bytes.append(string: relationship.name)
    bytes.append(
      (relationship.isToMany ? 1 : 0) | (relationship.isOrdered ? 2 : 0)
        | (relationship.isRemoved ? 4 : 0) | (extensions.isEmpty ? 0 : 8))
    bytes.append(varInt: UInt64(relationship.destination))
    if !extensions.isEmpty { ExtensionArea.append(extensions, to: &bytes) }
  }

  static func decodeRelationship(
    _ reader: inout ByteReader, in entity: Entity
  ) throws(DecodeFault) -> Relationship {
    let number = try readNumber(&reader, after: entity.relationships.last?.number, in: entity)
    let name = try reader.readString()
    let flags = try reader.readFlags(known: 15)
    var relationship = Relationship(
      name, to: "", isToMany: flags & 1 != 0, isOrdered: flags & 2 != 0)
    relationship.number = number
    relationship.isRemoved = flags & 4 != 0
    relationship.destination = try reader.readVarUInt32()
    relationship.deleteRule = .keep
    if flags & 8 != 0 {
      let area = try ExtensionArea.readSome(&reader)
      relationship.extensions = try DefinitionItems.adopt(area, into: &relationship, at: reader)
      if relationship.minimumCount == 0 || relationship.countProblem != nil {
        throw reader.invalid("limits of a count that none has")
      }
    }
    return relationship
  }

  static func encode(_ index: IndexDescription, into bytes: inout ContiguousArray<UInt8>) {
    var body: ContiguousArray<UInt8> = []
    body.append(varInt: UInt64(index.number))
    body.append(string: index.name)
    if index.isKnown {
      body.append(
        (index.isUnique ? 1 : 0) | (index.extensions.isEmpty ? 0 : 2)
          | (index.tests.isEmpty ? 0 : 4) | index.kind.flag)
      body.append(index.collation)
      body.append(count: index.elements.count)
      for element in index.elements {
        body.append(varInt: UInt64(element.property))
        body.append((element.isDescending ? 1 : 0) | (element.countsNullAsGreatest ? 2 : 0))
      }
      if !index.tests.isEmpty { encode(index.tests, into: &body) }
      if !index.extensions.isEmpty { ExtensionArea.append(index.extensions, to: &body) }
    } else {
      body += index.laterDefinition
    }
    body.withUnsafeBytes { bytes.append(sized: $0) }
  }

  static func decodeIndex(
    _ reader: inout ByteReader, in entity: Entity
  ) throws(DecodeFault) -> IndexDescription {
    try reader.readSized { (reader) throws(DecodeFault) in
      let number = try readNumber(&reader, after: entity.indexes.last?.number, in: entity)
      let name = try reader.readString()
      let start = reader
      let flags = try reader.readUInt8()
      // A later version may have put anything behind its flags, or nothing.
      let hasLaterFlags = flags & ~(7 | IndexKind.flags) != 0
      let collation = hasLaterFlags ? 0 : try reader.readUInt8()
      let kind = IndexKind(flags: flags)
      var isKnown = !hasLaterFlags && kind != nil && collation == 0
      var index = IndexDescription(name, [], isUnique: flags & 1 != 0)
      index.kind = kind ?? .ordered
      if isKnown {
        let limit = Int(FormatLimits.maximumPropertyNumber)
        for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 2)) {
          var element = IndexElement("")
          element.property = try reader.readVarUInt32()
          let flags = try reader.readUInt8()
          isKnown = isKnown && flags & ~3 == 0
          element.isDescending = flags & 1 != 0
          element.countsNullAsGreatest = flags & 2 != 0
          index.elements.append(element)
        }
      }
      if index.kindProblem != nil { isKnown = false }
      if isKnown, flags & 4 != 0 {
        if let tests = try decodeTests(&reader) { index.tests = tests } else { isKnown = false }
      }
      if isKnown, flags & 2 != 0 { index.extensions = try ExtensionArea.readSome(&reader) }
      if !isKnown {
        // All that this version knows of it is that it is there.
        index = IndexDescription(name, [])
        reader = start
        index.laterDefinition = ContiguousArray(try reader.readBytes(reader.remaining))
      }
      index.number = number
      return index
    }
  }
}

// What partial indexes test.
extension SchemaCodec {
  private static let comparisons: [Condition.Comparison] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]

  private static func encode(_ tests: [IndexTest], into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: tests.count)
    for test in tests {
      bytes.append(varInt: UInt64(test.property))
      bytes.append(UInt8(1 + (comparisons.firstIndex(of: test.comparison) ?? 0)))
      ValueCodec.encode(test.value, into: &bytes)
    }
  }

  /// The tests; nil if a later version wrote one.
  private static func decodeTests(_ reader: inout ByteReader) throws(DecodeFault) -> [IndexTest]? {
    let limit = Int(FormatLimits.maximumPropertyNumber)
    let count = try reader.readCount(limit: limit, minimumLength: 3)
    guard count > 0 else { throw reader.invalid("an empty list of comparisons") }
    var tests: [IndexTest] = []
    for _ in 0..<count {
      let property = try reader.readVarUInt32()
      let code = try reader.readUInt8()
      guard code >= 1, code <= comparisons.count else { return nil }
      var test = IndexTest("", comparisons[Int(code) - 1], try decodeValue(&reader))
      test.property = property
      guard test.problem == nil else { throw reader.invalid("a comparison that no index has") }
      tests.append(test)
    }
    return tests
  }
}
