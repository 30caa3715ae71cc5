import AnnalsModel

/// The values of a column, to and from the bytes of a chunk.
///
/// After the header and the rows follows, by kind:
///
///     bool int date day
///                     number list of the values
///     double          byte 0 and a section of 8 bytes each, or byte 1 and eight sections, each one
///                     byte of each value, the most significant first
///     uuid            section of 16 bytes each
///     object          varint target entity, number list of the rows
///     others          for any, section of a kind each; byte 1 and a section of a bit each for
///                     large ones, or byte 0 for none; section of a byte string run
///
/// FORMAT.md, "Chunks of state".
package enum ColumnChunkCodec {
  /// Appends a chunk with these values; there is at least one.
  package static func encode(
    _ values: ColumnValues, entity: EntityNumber, property: PropertyNumber, firstRow: Int64,
    into output: inout ContiguousArray<UInt8>, deflate: inout Deflate
  ) {
    ChunkHeader(
      content: .column, entity: entity, property: property, firstRow: firstRow,
      count: values.rows.count
    ).encode(into: &output)
    output.append(values.kind.rawValue)
    values.rows.encode(into: &output, deflate: &deflate)
    switch values.kind {
    case .bool, .int, .date, .day:
      NumberList.append(values.words, to: &output, deflate: &deflate)
    case .object:
      output.append(varInt: UInt64(values.target))
      NumberList.append(values.words, to: &output, deflate: &deflate)
    case .double: DoubleSection.append(values.words, to: &output, deflate: &deflate)
    case .uuid: ChunkSection.append(values.bytes, to: &output, deflate: &deflate)
    case .string, .url, .data, .json, .objects, .any, .decimal:
      encodeBytes(values, into: &output, deflate: &deflate)
    }
  }

  /// Reads a chunk. What it returns keeps the rules of its kind: lengths, tags and references fit.
  package static func decode(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> (header: ChunkHeader, values: ColumnValues) {
    var reader = ByteReader(payload)
    var inflate = Inflate()
    let header = try ChunkHeader(&reader, expecting: .column)
    guard let kind = ColumnKind(rawValue: try reader.readUInt8()) else {
      throw reader.newer("a kind of values")
    }
    let rows = try RowPresence(&reader, count: header.count, inflate: &inflate)
    var values = ColumnValues(kind: kind, rows: rows)
    switch kind {
    case .bool, .int, .date, .day:
      values.words = try NumberList.read(&reader, count: header.count, inflate: &inflate)
      guard kind != .bool || values.words.allSatisfy({ $0 <= 1 }) else {
        throw reader.invalid("a bool that is neither")
      }
      guard kind != .day || values.words.allSatisfy(ValueCodec.isDay) else {
        throw reader.invalid(ValueCodec.noDay)
      }
    case .object:
      values.target = try reader.readVarUInt32()
      values.words = try NumberList.read(&reader, count: header.count, inflate: &inflate)
      guard values.words.allSatisfy({ $0 <= FormatLimits.maximumNumber }) else {
        throw reader.invalid("a reference to no object")
      }
    case .double:
      values.words = try DoubleSection.read(&reader, count: header.count, inflate: &inflate)
      guard values.words.allSatisfy(ValueCodec.isFinite) else {
        throw reader.invalid(ValueCodec.notFinite)
      }
    case .uuid:
      values.bytes = try ChunkSection.read(&reader, count: 16 * header.count, inflate: &inflate)
    case .string, .url, .data, .json, .objects, .any, .decimal:
      try decodeBytes(&reader, into: &values, inflate: &inflate)
    }
    try reader.expectEnd()
    return (header, values)
  }
}

// Values of any length.
extension ColumnChunkCodec {
  private static func encodeBytes(
    _ values: ColumnValues, into output: inout ContiguousArray<UInt8>, deflate: inout Deflate
  ) {
    if values.kind == .any { ChunkSection.append(values.tags, to: &output, deflate: &deflate) }
    if values.large.contains(true) {
      output.append(1)
      var bits = ContiguousArray<UInt8>(repeating: 0, count: (values.large.count + 7) / 8)
      for index in values.large.indices where values.large[index] {
        bits[index >> 3] |= 1 << UInt8(index & 7)
      }
      ChunkSection.append(bits, to: &output, deflate: &deflate)
    } else {
      output.append(0)
    }
    ChunkSection.append(BytesColumn.encode(values), to: &output, deflate: &deflate)
  }

  private static func decodeBytes(
    _ reader: inout ByteReader, into values: inout ColumnValues, inflate: inout Inflate
  ) throws(DecodeFault) {
    let count = values.rows.count
    let start = reader.offset
    if values.kind == .any {
      values.tags = try ChunkSection.read(&reader, count: count, inflate: &inflate)
    }
    if try reader.readFlags(known: 1) == 1 {
      let bits = try ChunkSection.read(&reader, count: (count + 7) / 8, inflate: &inflate)
      values.large = ContiguousArray((0..<count).map { bits[$0 >> 3] >> UInt8($0 & 7) & 1 == 1 })
    }
    let section = try ChunkSection.read(
      &reader, limit: FormatLimits.maximumDecodedLength, inflate: &inflate)
    try section.decoded { run throws(DecodeFault) in
      try BytesColumn.decode(&run, count: count, into: &values)
    }
    try checkLengths(values, at: start)
    if let reason = brokenRule(of: values) { throw .invalid(at: start, reason: reason) }
  }

  /// What is wrong with the doubles, decimals, days and references among the values, whose lengths
  /// fit; nil if nothing is.
  private static func brokenRule(of values: ColumnValues) -> DecodeFault.Reason? {
    let checked = [ValueTag.double, .object, .objects, .decimal, .day].map(\.rawValue)
    let isChecked = values.kind == .objects || values.kind == .decimal
    guard isChecked || values.tags.contains(where: checked.contains) else { return nil }
    return values.bytes.withUnsafeBytes { bytes in
      var start = 0
      for (index, length) in values.lengths.enumerated() {
        let end = start + Int(length)
        switch values.kind.tag ?? ValueTag(rawValue: values.tags[index]) {
        case .double:
          let bits = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
          guard ValueCodec.isFinite(UInt64(littleEndian: bits)) else { return ValueCodec.notFinite }
        case .day:
          let bits = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
          guard ValueCodec.isDay(UInt64(littleEndian: bits)) else { return ValueCodec.noDay }
        case .decimal:
          let number = RawDecimal(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
          guard number != nil else { return ValueCodec.noDecimal }
        case .object, .objects:
          for offset in stride(from: start, to: end, by: ObjectReference.byteCount)
          where !ValueCodec.isRow(ObjectReference(bytes: bytes, at: offset).row) {
            return "a reference to no object"
          }
        default: break
        }
        start = end
      }
      return nil
    }
  }

  /// Throws unless each value's length fits its kind.
  private static func checkLengths(_ values: ColumnValues, at start: Int) throws(DecodeFault) {
    // Bytes may have any length.
    if values.kind.tag?.isBytes == true, values.large.isEmpty { return }
    for (index, length) in values.lengths.enumerated() {
      let tag = values.kind.tag ?? ValueTag(rawValue: values.tags[index])
      // A chunk of kind any may stand in any column, to-many ones with erased values among them.
      guard let tag else { throw .newer(at: start, reason: "a kind of value") }
      guard values.kind == .any || values.kind.tag == tag else {
        throw .invalid(at: start, reason: "a value of another kind than its chunk")
      }
      let isLarge = !values.large.isEmpty && values.large[index]
      let fits =
        switch tag {
        case .string, .url, .data, .json:
          !isLarge || length == UInt64(ValueCell.largeDescriptionLength)
        case .objects: !isLarge && length > 0 && length % UInt64(ObjectReference.byteCount) == 0
        case .object: !isLarge && length == UInt64(ObjectReference.byteCount)
        case .uuid: !isLarge && length == 16
        case .bool, .int, .double, .date, .day: !isLarge && length == 8
        case .decimal: !isLarge && length <= UInt64(RawDecimal.mostBytes)
        case .erased: !isLarge && length == 0
        case .null: false
        }
      guard fits else { throw .invalid(at: start, reason: "a value of the wrong length") }
    }
  }
}
