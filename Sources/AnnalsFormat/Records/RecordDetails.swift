import AnnalsModel

/// The parts of a transaction besides its changes, in both forms: a byte of flags that says which
/// follow, then the parts in the order of the flags.
///
/// FORMAT.md, "Details".
enum RecordDetails {
  static let hasNewNames: UInt8 = 1
  static let hasNewOpening: UInt8 = 2
  static let hasMetadata: UInt8 = 4
  static let hasSchemaChange: UInt8 = 8
  static let hasExtensions: UInt8 = 16
  static let hasGap: UInt8 = 32
  static let known: UInt8 = 63

  /// Which parts a record has.
  static func flags(of record: TransactionRecord) -> UInt8 {
    if record.isPlain { return 0 }
    return (record.newNames.isEmpty ? 0 : hasNewNames)
      | (record.newOpening == nil ? 0 : hasNewOpening)
      | (record.metadata.isEmpty ? 0 : hasMetadata)
      | (record.schemaChange.isEmpty ? 0 : hasSchemaChange)
      | (record.extensions.isEmpty ? 0 : hasExtensions)
      | (record.lost == nil ? 0 : hasGap)
  }

  static func encode(_ record: TransactionRecord, into bytes: inout ContiguousArray<UInt8>) {
    let flags = flags(of: record)
    bytes.append(flags)
    if flags == 0 { return }
    if !record.newNames.isEmpty {
      bytes.append(varInt: UInt64(record.firstNewName))
      bytes.append(count: record.newNames.count)
      for name in record.newNames { bytes.append(string: name) }
    }
    if let opening = record.newOpening { encode(opening, into: &bytes) }
    if !record.metadata.isEmpty {
      bytes.append(count: record.metadata.count)
      for entry in record.metadata {
        bytes.append(string: entry.key)
        ValueCodec.encode(entry.value, into: &bytes)
      }
    }
    if !record.schemaChange.isEmpty { SchemaCodec.encode(record.schemaChange, into: &bytes) }
    if !record.extensions.isEmpty { ExtensionArea.append(record.extensions, to: &bytes) }
    if let lost = record.lost { GapCodec.encode(lost, into: &bytes) }
  }

  /// How many bytes the record's details take.
  static func length(of record: TransactionRecord) -> Int {
    guard flags(of: record) != 0 else { return 1 }
    var bytes: ContiguousArray<UInt8> = []
    encode(record, into: &bytes)
    return bytes.count
  }

  static func decode(
    _ reader: inout ByteReader, into record: inout TransactionRecord
  ) throws(DecodeFault) {
    let flags = try reader.readFlags(known: known)
    if flags == 0 { return }
    if flags & hasNewNames != 0 { try decodeNames(&reader, into: &record) }
    if flags & hasNewOpening != 0 { record.newOpening = try decodeOpening(&reader) }
    if flags & hasMetadata != 0 { try decodeMetadata(&reader, into: &record) }
    if flags & hasSchemaChange != 0 {
      record.schemaChange = try SchemaCodec.decodeChanges(&reader)
      guard !record.schemaChange.isEmpty else { throw reader.invalid("an empty schema change") }
    }
    if flags & hasExtensions != 0 {
      record.extensions = try ExtensionArea.readSome(&reader)
      try checkItems(of: record, reader)
    }
    if flags & hasGap != 0 {
      record.lost = try GapCodec.decode(&reader, last: record.number, after: record.timestamp)
    }
  }

  /// Throws if a known item of the record's area breaks a rule.
  private static func checkItems(
    of record: TransactionRecord, _ reader: ByteReader
  ) throws(DecodeFault) {
    for item in ExtensionArea.items(of: record.extensions) {
      switch item.tag {
      case ExtensionArea.clockJump:
        if !item.bytes.isEmpty { throw reader.invalid("a jump of the clock that says more") }
      case ExtensionArea.erasure: _ = try ErasureCodec.decode(item.bytes)
      case ExtensionArea.group: _ = try UndoCodec.group(item.bytes)
      case ExtensionArea.undo: _ = try UndoCodec.act(item.bytes, before: record.number)
      case ExtensionArea.migration: _ = try MigrationCodec.names(item.bytes)
      case ExtensionArea.sharedLogPlace: _ = try SharedLogPlace.decode(item.bytes)
      default: break
      }
    }
  }

  private static func decodeNames(
    _ reader: inout ByteReader, into record: inout TransactionRecord
  ) throws(DecodeFault) {
    record.firstNewName = try reader.readVarUInt32()
    let count = try reader.readCount(limit: FormatLimits.maximumChanges)
    let last = record.firstNewName.addingReportingOverflow(UInt32(count))
    guard count > 0, record.firstNewName > 0, !last.overflow else {
      throw reader.invalid("new names without a number")
    }
    var names: [String] = []
    for _ in 0..<count { names.append(try reader.readString()) }
    record.newNames = names
  }

  private static func decodeMetadata(
    _ reader: inout ByteReader, into record: inout TransactionRecord
  ) throws(DecodeFault) {
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 2)
    guard count > 0 else { throw reader.invalid("empty metadata") }
    var metadata: [MetadataEntry] = []
    for _ in 0..<count {
      let start = reader.offset
      let key = try reader.readString()
      if let last = metadata.last, !last.key.precedesInBytes(key) {
        throw .invalid(at: start, reason: "metadata out of order")
      }
      metadata.append(MetadataEntry(key: key, value: try ValueCodec.decode(&reader)))
    }
    record.metadata = metadata
  }

  /// Appends one opening.
  static func encode(_ opening: Opening, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(opening.number))
    bytes.append(fixed: opening.id)
    bytes.append(zigzag: opening.processID)
    bytes.append(string: opening.processName)
  }

  /// Reads one opening.
  static func decodeOpening(_ reader: inout ByteReader) throws(DecodeFault) -> Opening {
    let number = try reader.readVarUInt32()
    guard number > 0 else { throw reader.invalid("an opening without a number") }
    let id = try reader.read(UInt64.self)
    let processID = try reader.readZigzag()
    return Opening(
      number: number, id: id, processName: try reader.readString(), processID: processID)
  }
}
