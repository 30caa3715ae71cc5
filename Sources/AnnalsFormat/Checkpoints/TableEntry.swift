import AnnalsModel

/// An entry of a table in a checkpoint's directory.
package protocol TableEntry: Sendable {
  /// The fewest bytes that an entry takes.
  static var minimumLength: Int { get }
  func encode(into bytes: inout ContiguousArray<UInt8>)
  init(_ reader: inout ByteReader) throws(DecodeFault)
  /// How much of a chunk it fills, which has room for 1,024.
  var weight: Int { get }
}

extension TableEntry {
  package var weight: Int { 1 }
}

extension String: TableEntry {
  package static var minimumLength: Int { 1 }

  package func encode(into bytes: inout ContiguousArray<UInt8>) { bytes.append(string: self) }

  package init(_ reader: inout ByteReader) throws(DecodeFault) { self = try reader.readString() }
}

extension Opening: TableEntry {
  package static var minimumLength: Int { 11 }

  package func encode(into bytes: inout ContiguousArray<UInt8>) {
    RecordDetails.encode(self, into: &bytes)
  }

  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    self = try RecordDetails.decodeOpening(&reader)
  }
}

extension LargeValueEntry: TableEntry {
  package static var minimumLength: Int { 3 }

  package func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: number)
    bytes.append(varInt: offset)
    bytes.append(varInt: length)
  }

  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    number = try reader.readVarUInt62()
    offset = try reader.readVarUInt62()
    length = try reader.readVarUInt62()
  }
}

extension SchemaHistoryEntry: TableEntry {
  package static var minimumLength: Int { 2 }

  package func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(bitPattern: number))
    SchemaCodec.encode(change, into: &bytes)
  }

  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    number = try reader.readVarInt64()
    change = try SchemaCodec.decodeChanges(&reader)
  }
}

extension HistoryIndexEntry: TableEntry {
  package static var minimumLength: Int { 4 }

  package func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(bitPattern: firstNumber))
    bytes.append(varInt: offset)
    bytes.append(zigzag: maximumTimestamp.microseconds)
    bytes.append(count: entities.count)
    for entity in entities { bytes.append(varInt: UInt64(entity)) }
  }

  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    firstNumber = try reader.readVarInt64()
    offset = try reader.readVarUInt62()
    maximumTimestamp = Timestamp(microseconds: try reader.readZigzag())
    entities = []
    for _ in 0..<(try reader.readCount(limit: FormatLimits.maximumChanges)) {
      let entity = try reader.readVarUInt32()
      if let last = entities.last, entity <= last { throw reader.invalid("entities out of order") }
      entities.append(entity)
    }
  }
}

/// The payload of a chunk that holds a run of a table's entries: how many, and the entries.
package enum TableCodec<Entry: TableEntry> {
  /// Appends the entries.
  package static func encode(
    _ entries: some Collection<Entry>, into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(count: entries.count)
    for entry in entries { entry.encode(into: &bytes) }
  }

  /// Reads a chunk's payload.
  package static func decode(_ payload: UnsafeRawBufferPointer) throws(DecodeFault) -> [Entry] {
    var reader = ByteReader(payload)
    let entries = try decode(&reader)
    try reader.expectEnd()
    return entries
  }

  static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> [Entry] {
    let count = try reader.readCount(
      limit: FormatLimits.maximumPayload, minimumLength: Entry.minimumLength)
    var entries: [Entry] = []
    entries.reserveCapacity(count)
    for _ in 0..<count { entries.append(try Entry(&reader)) }
    return entries
  }
}
