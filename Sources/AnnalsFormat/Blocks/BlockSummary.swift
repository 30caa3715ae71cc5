import AnnalsModel

/// The summary at the front of a block, from which readers of history decide to skip it.
package struct BlockSummary: Hashable, Sendable {
  /// The number of the first transaction, and how many follow one another from it.
  package var firstNumber: Int64
  package var transactionCount: Int
  /// Whether this is a part of one transaction of several frames, and which, from 0.
  package var isPart: Bool
  package var part: UInt32 = 0
  /// The least and the greatest timestamp among the transactions.
  package var minimumTimestamp: Timestamp
  package var maximumTimestamp: Timestamp
  /// How many changes there are, of all entities.
  package var changeCount: Int
  /// Every author and every context that a transaction has, rising; 0 stands for none.
  package var authors: [NameNumber] = []
  package var contexts: [NameNumber] = []
  /// One for each entity that a change is of, rising by number.
  package var entities: [EntitySummary] = []

  /// The number of the last transaction; that of the first, for a part.
  package var lastNumber: Int64 { firstNumber + Int64(transactionCount) - 1 }

  /// The summary of one entity in a block.
  package struct EntitySummary: Hashable, Sendable {
    package var entity: EntityNumber
    package var changeCount = 0
    package var minimumRow = Int64.max
    package var maximumRow: Int64 = 0
    /// The kinds of change that occur: bit 0 insert, bit 1 update, bit 2 delete.
    package var kinds: UInt8 = 0
    /// The properties that changes list, rising.
    package var properties: ContiguousArray<PropertyNumber> = []
  }
}

extension BlockSummary {
  private static let partForm: UInt8 = 1

  /// Appends what comes before the columns.
  func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(isPart ? BlockSummary.partForm : 0)
    bytes.append(varInt: UInt64(bitPattern: firstNumber))
    bytes.append(varInt: isPart ? UInt64(part) : UInt64(transactionCount))
    bytes.append(zigzag: minimumTimestamp.microseconds)
    let span = maximumTimestamp.microseconds &- minimumTimestamp.microseconds
    bytes.append(varInt: UInt64(bitPattern: span))
    bytes.append(count: changeCount)
    for names in [authors, contexts] {
      bytes.append(count: names.count)
      for name in names { bytes.append(varInt: UInt64(name)) }
    }
    bytes.append(count: entities.count)
    for entity in entities {
      bytes.append(varInt: UInt64(entity.entity))
      bytes.append(count: entity.changeCount)
      bytes.append(varInt: UInt64(bitPattern: entity.minimumRow))
      bytes.append(varInt: UInt64(bitPattern: entity.maximumRow - entity.minimumRow))
      bytes.append(entity.kinds)
      PropertyVector.encode(entity.properties, into: &bytes)
    }
  }

  /// Reads what comes before the columns.
  init(_ reader: inout ByteReader) throws(DecodeFault) {
    let form = try reader.readUInt8()
    guard form <= BlockSummary.partForm else { throw reader.newer("a form of block") }
    isPart = form == BlockSummary.partForm
    firstNumber = try reader.readVarInt64()
    transactionCount = 1
    if isPart {
      part = try reader.readVarUInt32()
    } else {
      transactionCount = try reader.readCount(
        limit: FormatLimits.maximumChanges, minimumLength: 0)
    }
    guard firstNumber > 0, transactionCount > 0 else {
      throw reader.invalid("a block without transactions")
    }
    let last = firstNumber + Int64(transactionCount) - 1
    guard UInt64(last) <= FormatLimits.maximumNumber else {
      throw reader.invalid("a block whose numbers are too great")
    }
    let minimum = try reader.readZigzag()
    let span = Int64(bitPattern: try reader.readVarInt())
    minimumTimestamp = Timestamp(microseconds: minimum)
    maximumTimestamp = Timestamp(microseconds: minimum &+ span)
    guard minimumTimestamp <= maximumTimestamp else {
      throw reader.invalid("timestamps out of order")
    }
    changeCount = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 0)
    authors = try BlockSummary.readNames(&reader)
    contexts = try BlockSummary.readNames(&reader)
    try readEntities(&reader)
  }

  private static func readNames(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> [NameNumber] {
    var names: [NameNumber] = []
    for _ in 0..<(try reader.readCount(limit: FormatLimits.maximumChanges)) {
      let name = try reader.readVarUInt32()
      if let last = names.last, name <= last { throw reader.invalid("names out of order") }
      names.append(name)
    }
    guard !names.isEmpty else { throw reader.invalid("a block without names") }
    return names
  }

  private mutating func readEntities(_ reader: inout ByteReader) throws(DecodeFault) {
    var unclaimed = changeCount
    var limit = FormatLimits.maximumPropertyChanges
    for _ in 0..<(try reader.readCount(limit: changeCount, minimumLength: 6)) {
      let start = reader.offset
      var entity = EntitySummary(entity: try reader.readVarUInt32())
      guard entity.entity > entities.last?.entity ?? 0 else {
        throw .invalid(at: start, reason: "entities out of order")
      }
      entity.changeCount = try reader.readCount(limit: unclaimed, minimumLength: 0)
      unclaimed -= entity.changeCount
      entity.minimumRow = try reader.readVarInt64()
      let span = try reader.readVarInt64()
      let maximum = entity.minimumRow.addingReportingOverflow(span)
      guard entity.changeCount > 0, entity.minimumRow > 0, !maximum.overflow else {
        throw .invalid(at: start, reason: "an entity without changes")
      }
      entity.maximumRow = maximum.partialValue
      entity.kinds = try reader.readFlags(known: 7)
      entity.properties = try PropertyVector.decode(&reader, limit: limit)
      limit -= entity.properties.count
      entities.append(entity)
    }
    guard unclaimed == 0 else { throw reader.invalid("changes without an entity") }
  }
}
