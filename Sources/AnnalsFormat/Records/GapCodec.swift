import AnnalsModel

/// Encodes and decodes what a gap record contains besides its number and timestamp.
///
/// FORMAT.md, "Gap records".
enum GapCodec {
  private static let isExact: UInt8 = 1
  private static let hasBefore: UInt8 = 2

  static func encode(_ lost: LostTransactions, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(bitPattern: lost.first))
    bytes.append((lost.isExact ? isExact : 0) | (lost.before == nil ? 0 : hasBefore))
    bytes.append(zigzag: lost.salvaged.microseconds)
    if let before = lost.before { bytes.append(zigzag: before.microseconds) }
    bytes.append(string: lost.reason)
    bytes.append(count: lost.stale.count)
    for count in lost.stale {
      bytes.append(varInt: UInt64(count.entity))
      bytes.append(varInt: UInt64(bitPattern: count.objects))
    }
    bytes.append(count: lost.openings.count)
    for opening in lost.openings { RecordDetails.encode(opening, into: &bytes) }
  }

  /// Reads what `encode` wrote; `last` and `after` are the record's number and timestamp.
  static func decode(
    _ reader: inout ByteReader, last: Int64, after: Timestamp
  ) throws(DecodeFault) -> LostTransactions {
    let start = reader.offset
    let first = try reader.readVarInt64()
    guard first > 0, first <= last else {
      throw .invalid(at: start, reason: "a gap whose numbers are out of order")
    }
    let flags = try reader.readFlags(known: isExact | hasBefore)
    var lost = LostTransactions(
      first: first, last: last, after: after,
      salvaged: Timestamp(microseconds: try reader.readZigzag()))
    lost.isExact = flags & isExact != 0
    if flags & hasBefore != 0 { lost.before = Timestamp(microseconds: try reader.readZigzag()) }
    lost.reason = try reader.readString()
    for _ in 0..<(try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 2)) {
      let entity = try reader.readVarUInt32()
      guard entity > lost.stale.last?.entity ?? 0 else {
        throw reader.invalid("entities of a gap out of order")
      }
      lost.stale.append(
        LostTransactions.StaleCount(entity: entity, objects: try reader.readVarInt64()))
    }
    for _ in 0..<(try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 11)) {
      let opening = try RecordDetails.decodeOpening(&reader)
      if let last = lost.openings.last, opening.number != last.number &+ 1 {
        throw reader.invalid("openings of a gap out of order")
      }
      lost.openings.append(opening)
    }
    return lost
  }

  /// Appends the gaps of a checkpoint's directory.
  static func encode(_ list: [LostTransactions], into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: list.count)
    for lost in list {
      var brief = lost
      // The directory has its own table of openings.
      brief.openings = []
      bytes.append(varInt: UInt64(bitPattern: lost.last))
      bytes.append(zigzag: lost.after.microseconds)
      encode(brief, into: &bytes)
    }
  }

  /// Reads the gaps of a checkpoint's directory: not empty, rising.
  static func decodeList(_ reader: inout ByteReader) throws(DecodeFault) -> [LostTransactions] {
    let count = try reader.readCount(limit: FormatLimits.maximumChanges, minimumLength: 8)
    var list: [LostTransactions] = []
    for _ in 0..<count {
      let last = try reader.readVarInt64()
      let after = Timestamp(microseconds: try reader.readZigzag())
      let lost = try decode(&reader, last: last, after: after)
      guard lost.first > list.last?.last ?? 0, lost.openings.isEmpty else {
        throw reader.invalid("gaps out of order")
      }
      list.append(lost)
    }
    guard !list.isEmpty else { throw reader.invalid("an empty list of gaps") }
    return list
  }
}
