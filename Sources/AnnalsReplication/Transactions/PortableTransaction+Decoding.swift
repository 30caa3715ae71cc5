import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension PortableTransaction {
  /// Reads the portable form. Allocates a small multiple of the bytes, whatever they say. O(bytes).
  ///
  /// Throws `ReplicationError`: `.newerVersion` for a form of a later version, `.damaged` for bytes
  /// that nobody wrote, `.tooLarge` for more than 1 GiB.
  public init(decoding bytes: [UInt8]) throws(ReplicationError) {
    guard bytes.count <= PortableTransaction.longest else {
      throw ReplicationError(
        .tooLarge, "a transaction of \(bytes.count) bytes is more than replicas exchange")
    }
    do throws(DecodeFault) {
      let content = try PortableTransaction.content(of: bytes)
      self.init(content, bytes: bytes)
    } catch {
      throw ReplicationError(
        error.isNewer ? .newerVersion : .damaged,
        error.isNewer
          ? "the log has a transaction of a newer version of the program: \(error)"
          : "the log has bytes that are no transaction: \(error)")
    }
  }

  private static func content(of bytes: [UInt8]) throws(DecodeFault) -> Content {
    var result: Result<Content, DecodeFault> = .failure(.truncated(at: 0, needed: 1))
    bytes.withUnsafeBytes { bytes in
      result = Result { () throws(DecodeFault) in try content(of: bytes) }
    }
    return try result.get()
  }

  private static func content(of bytes: UnsafeRawBufferPointer) throws(DecodeFault) -> Content {
    var start = ByteReader(bytes)
    guard try start.readBytes(magic.count).elementsEqual(magic) else {
      throw .invalid(at: 0, reason: "another beginning than a transaction's")
    }
    guard try start.readUInt8() == version else {
      throw .newer(at: magic.count, reason: "a version of the form")
    }
    let checksumLength = MemoryLayout<UInt32>.size
    try start.require(checksumLength)
    let end = bytes.count - checksumLength
    let checked = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    var tail = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[end...]))
    guard try tail.read(UInt32.self) == Checksum.crc32(checked) else { throw .checksum(at: end) }
    var reader = ByteReader(checked)
    _ = try reader.readBytes(start.offset)
    return try content(&reader, of: checked)
  }

  private static func content(
    _ reader: inout ByteReader, of bytes: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> Content {
    _ = try reader.readFlags(known: 0)
    let store = try reader.readUUID()
    let number = try reader.readVarInt64()
    guard number > 0 else { throw reader.invalid("a transaction without a number") }
    guard let previous = Digest(try reader.readBytes(Digest.length)) else {
      throw reader.invalid("a digest of another length")
    }
    var content = Content(previous: previous)
    content.store = store
    content.number = number
    content.features = Features(
      required: try reader.readVarInt(), optional: try reader.readVarInt())
    if content.features.permission != .everything { throw reader.newer("a feature") }
    content.names = try PortableNames(&reader)
    content.largeValues = try largeValues(&reader)
    try readParts(&reader, of: bytes, into: &content)
    try reader.expectEnd()
    return content
  }

  private static func largeValues(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> [(tag: ValueTag, range: Range<Int>)] {
    let least = FormatLimits.largeValueThreshold
    let count = try reader.readCount(limit: longest / least, minimumLength: least)
    var result: [(tag: ValueTag, range: Range<Int>)] = []
    for _ in 0..<count {
      guard let tag = ValueTag(rawValue: try reader.readUInt8()), tag.isBytes else {
        throw reader.invalid("a kind that no large value has")
      }
      let length = try reader.readCount(limit: longest)
      guard length > least else { throw reader.invalid("a large value that is not large") }
      let start = reader.offset
      let bytes = try reader.readBytes(length)
      if tag != .data, String(validating: bytes, as: UTF8.self) == nil {
        throw .invalid(at: start, reason: "text that is not UTF-8")
      }
      result.append((tag, start..<reader.offset))
    }
    return result
  }

  private static func readParts(
    _ reader: inout ByteReader, of bytes: UnsafeRawBufferPointer, into content: inout Content
  ) throws(DecodeFault) {
    let count = try reader.readCount(limit: longest, minimumLength: 2)
    guard count > 0 else { throw reader.invalid("a transaction without a record") }
    var check = PartCheck(content, bytes)
    for index in 0..<count {
      let start = reader.offset
      let payload = try reader.readSizedBytes()
      var batch = ChangeBatch()
      do throws(DecodeFault) {
        try TransactionCodec.decode(payload, into: &batch)
      } catch {
        throw error.moved(by: reader.offset - payload.count)
      }
      let record = batch.transactions[0]
      if index == 0 {
        content.envelope = try envelope(of: record, content, at: start)
      } else if !record.isPlain || record.author != 0 || record.context != 0 || record.opening != 0
        || record.changeCount == 0 || record.timestamp != content.envelope.timestamp
      {
        throw .invalid(at: start, reason: "a further part that is more than changes")
      }
      guard record.number == content.number else {
        throw .invalid(at: start, reason: "a part of another transaction")
      }
      guard PortableParts.isOne(batch, isLast: index == count - 1) else {
        throw .invalid(at: start, reason: "a part of another length")
      }
      try check.run(batch, at: start)
      content.parts.append(batch)
    }
    guard check.areAllNamed else { throw reader.invalid("a large value that nothing names") }
    guard content.names.isExactly(PortableNames.numbers(in: content.parts)) else {
      throw reader.invalid("other names than the changes need")
    }
    guard content.features == Features(of: content) else {
      throw reader.invalid("other features than the transaction uses")
    }
  }

  private static func envelope(
    of record: TransactionRecord, _ content: Content, at start: Int
  ) throws(DecodeFault) -> TransactionEnvelope {
    let names = record.newNames
    func name(_ number: NameNumber) -> String? { number == 0 ? nil : names[Int(number) - 1] }
    guard record.lost == nil, let opening = record.newOpening, opening.number == 1,
      record.opening == 1, record.firstNewName == (names.isEmpty ? 0 : 1),
      record.author <= names.count, record.context <= names.count
    else { throw .invalid(at: start, reason: "a record that does not stand by itself") }
    guard Timestamp.transactionRange.contains(record.timestamp) else {
      throw .invalid(at: start, reason: "a date that no transaction has")
    }
    guard SharedLogPlace.place(of: record) == nil else {
      throw .invalid(at: start, reason: "a place in a log, which only a file has")
    }
    var envelope = TransactionEnvelope(
      timestamp: record.timestamp, author: name(record.author), context: name(record.context),
      metadata: record.metadata, schemaChange: record.schemaChange, extensions: record.extensions,
      opening: opening)
    envelope.features = content.features
    return envelope
  }
}

/// Checks that changes name the large values that the transaction brings along, and each of these
/// in its order.
private struct PartCheck {
  private let values: [LargeValue]
  private var named: UInt64 = 0

  init(_ content: PortableTransaction.Content, _ bytes: UnsafeRawBufferPointer) {
    values = content.largeValues.enumerated().map { index, value in
      LargeValue(
        tag: value.tag, number: UInt64(index + 1), length: UInt64(value.range.count),
        checksum: Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[value.range])))
    }
  }

  /// Whether each value was named, and is there once.
  var areAllNamed: Bool { named == values.count && Set(values).count == values.count }

  mutating func run(_ batch: ChangeBatch, at start: Int) throws(DecodeFault) {
    for change in batch.changes {
      for property in batch.properties[change.propertyRange] {
        if property.before.isLarge, batch.largeValue(property.before).number != 0 {
          throw .invalid(at: start, reason: "a large value before a change that has a number")
        }
        if property.after.isLarge { try check(batch.largeValue(property.after), at: start) }
      }
    }
  }

  private mutating func check(_ value: LargeValue, at start: Int) throws(DecodeFault) {
    guard value.number > 0, value.number <= values.count, values[Int(value.number) - 1] == value,
      value.number <= named + 1
    else { throw .invalid(at: start, reason: "a large value that is not here") }
    named = max(named, value.number)
  }
}

extension DecodeFault {
  /// The fault, told from the beginning of more bytes.
  fileprivate func moved(by count: Int) -> DecodeFault {
    switch self {
    case .truncated(let at, let needed): .truncated(at: at + count, needed: needed)
    case .invalid(let at, let reason): .invalid(at: at + count, reason: reason)
    case .checksum(let at): .checksum(at: at + count)
    case .tooLarge(let at, let limit): .tooLarge(at: at + count, limit: limit)
    case .unknownFeatures(let at, let bits): .unknownFeatures(at: at + count, bits)
    case .newer(let at, let reason): .newer(at: at + count, reason: reason)
    }
  }
}
