import AnnalsModel

/// Encodes and decodes definitions of entities: whole ones as in directories, and the changes of a
/// transaction.
///
/// FORMAT.md, "Schema".
package enum SchemaCodec {
  /// Appends the definitions.
  package static func encode(_ entities: [Entity], into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: entities.count)
    for entity in entities { encode(entity, dropped: nil, &bytes) }
  }

  /// Appends the changes of a transaction.
  package static func encode(_ changes: [EntityChange], into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: changes.count)
    for change in changes {
      encode(change.definition, dropped: change.isPartial ? change.droppedIndexes : nil, &bytes)
    }
  }

  /// Reads definitions, in rising order of their numbers.
  package static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> [Entity] {
    try decodeAll(&reader, flags: isRemoved | hasDisplayName | hasExtensions).map(\.definition)
  }

  /// Reads the changes of a transaction, in rising order of their entities' numbers.
  package static func decodeChanges(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> [EntityChange] {
    try decodeAll(&reader, flags: isRemoved | hasDisplayName | hasExtensions | isPartial)
  }

  private static func decodeAll(
    _ reader: inout ByteReader, flags: UInt8
  ) throws(DecodeFault) -> [EntityChange] {
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 7)
    var result: [EntityChange] = []
    for _ in 0..<count {
      let start = reader.offset
      let change = try decodeEntity(&reader, known: flags)
      if let last = result.last, change.number <= last.number {
        throw .invalid(at: start, reason: "entities out of order")
      }
      result.append(change)
    }
    return result
  }

  // Entity flags.
  private static let isRemoved: UInt8 = 1
  private static let hasDisplayName: UInt8 = 2
  private static let hasExtensions: UInt8 = 4
  private static let isPartial: UInt8 = 8

  /// Appends a definition; a partial one if it says which indexes are gone.
  private static func encode(
    _ entity: Entity, dropped: [PropertyNumber]?, _ bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(varInt: UInt64(entity.number))
    bytes.append(
      (entity.isRemoved ? isRemoved : 0) | (entity.displayName == nil ? 0 : hasDisplayName)
        | (entity.hasExtensionArea ? hasExtensions : 0) | (dropped == nil ? 0 : isPartial))
    bytes.append(string: entity.name)
    if let name = entity.displayName { bytes.append(string: name) }
    bytes.append(varInt: UInt64(entity.nextPropertyNumber))
    bytes.append(count: entity.attributes.count)
    for attribute in entity.attributes { encode(attribute, into: &bytes) }
    bytes.append(count: entity.relationships.count)
    for relationship in entity.relationships { encode(relationship, into: &bytes) }
    bytes.append(count: entity.indexes.count)
    for index in entity.indexes { encode(index, into: &bytes) }
    if let dropped {
      bytes.append(count: dropped.count)
      for number in dropped { bytes.append(varInt: UInt64(number)) }
    }
    if entity.hasExtensionArea {
      ExtensionArea.append(SchemaEditCodec.area(of: entity), to: &bytes)
    }
  }

  private static func decodeEntity(
    _ reader: inout ByteReader, known: UInt8
  ) throws(DecodeFault) -> EntityChange {
    let number = try reader.readVarUInt32()
    guard number > 0 else { throw reader.invalid("an entity without a number") }
    let flags = try reader.readFlags(known: known)
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
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 6)) {
      entity.indexes.append(try decodeIndex(&reader, in: entity))
    }
    var dropped: [PropertyNumber] = []
    if flags & isPartial != 0 {
      for _ in 0..<(try reader.readCount(limit: limit)) {
        dropped.append(try readNumber(&reader, after: dropped.last, in: entity))
      }
    }
    if flags & hasExtensions != 0 {
      try SchemaEditCodec.adopt(ExtensionArea.readSome(&reader), into: &entity)
    }
    guard hasDistinctNumbers(entity, and: dropped) else {
      throw reader.invalid("a property number given twice")
    }
    var change = EntityChange(entity)
    change.isPartial = flags & isPartial != 0
    change.droppedIndexes = dropped
    return change
  }

  /// Whether attributes, relationships, indexes and those dropped, each rising, have no number in
  /// common.
  private static func hasDistinctNumbers(_ entity: Entity, and dropped: [PropertyNumber]) -> Bool {
    if entity.relationships.isEmpty, entity.indexes.isEmpty, dropped.isEmpty { return true }
    let numbers =
      entity.attributes.map(\.number) + entity.relationships.map(\.number)
      + entity.indexes.map(\.number) + dropped
    return Set(numbers).count == numbers.count
  }

  /// Reads the number of a property or index: it was given out, and rises within its list.
  static func readNumber(
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

extension Entity {
  /// Whether the definition's extension area has any item.
  fileprivate var hasExtensionArea: Bool { !extensions.isEmpty || !madeEdits.isEmpty }
}
