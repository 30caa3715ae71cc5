import AnnalsModel

/// Encodes and decodes consumers: one in a frame of its own, all of them in a directory.
///
/// FORMAT.md, "Consumers".
package enum ConsumerCodec {
  private static let isRemoved: UInt8 = 1
  private static let isBlocking: UInt8 = 2
  private static let hasLease: UInt8 = 4

  /// Appends the payload of a frame.
  package static func encode(_ change: ConsumerChange, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(string: change.name)
    guard case .set(let consumer) = change else { return bytes.append(isRemoved) }
    bytes.append((consumer.isBlocking ? isBlocking : 0) | (consumer.lease == nil ? 0 : hasLease))
    bytes.append(string: consumer.kind)
    bytes.append(zigzag: consumer.registered.microseconds)
    bytes.append(zigzag: consumer.lastSeen.microseconds)
    bytes.append(varInt: UInt64(bitPattern: consumer.number))
    bytes.append(fixed: consumer.openingID)
    if let lease = consumer.lease { bytes.append(varInt: UInt64(bitPattern: lease)) }
  }

  /// Reads the payload of a frame.
  static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> ConsumerChange {
    let name = try readText(&reader)
    guard !name.isEmpty else { throw reader.invalid("a consumer without a name") }
    let flags = try reader.readFlags(known: isRemoved | isBlocking | hasLease)
    if flags & isRemoved != 0 {
      guard flags == isRemoved else { throw reader.invalid("flags of a removed consumer") }
      return .remove(name: name)
    }
    var consumer = ConsumerState(
      name: name, kind: try readText(&reader), isBlocking: flags & isBlocking != 0, lease: nil,
      registered: Timestamp(microseconds: try reader.readZigzag()),
      lastSeen: Timestamp(microseconds: try reader.readZigzag()),
      number: try reader.readVarInt64(), openingID: try reader.read(UInt64.self))
    if flags & hasLease != 0 { consumer.lease = try reader.readVarInt64() }
    return .set(consumer)
  }

  private static func readText(_ reader: inout ByteReader) throws(DecodeFault) -> String {
    let start = reader.offset
    let text = try reader.readString()
    guard text.utf8.count <= FormatLimits.maximumConsumerText else {
      throw .tooLarge(at: start, limit: UInt64(FormatLimits.maximumConsumerText))
    }
    return text
  }

  /// Appends all consumers of a table: a list of payloads.
  static func encode(_ table: ConsumerTable, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: table.count)
    for consumer in table.list { encode(.set(consumer), into: &bytes) }
  }

  /// Reads what `encode(_:into:)` wrote of a table: not empty, names rising, none removed.
  static func decodeTable(_ reader: inout ByteReader) throws(DecodeFault) -> ConsumerTable {
    var table = ConsumerTable()
    let limit = FormatLimits.maximumConsumers
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: shortest)) {
      let change = try decode(&reader)
      guard case .set = change, table.list.last?.name.precedesInBytes(change.name) ?? true else {
        throw reader.invalid("consumers out of order")
      }
      table.apply(change)
    }
    guard !table.isEmpty else { throw reader.invalid("an empty list of consumers") }
    return table
  }

  /// The fewest bytes that one takes.
  private static let shortest = 15
}
