import AnnalsModel

/// One piece of a large value: the value's number and length, the piece's position in it, the base
/// and the extension area in the first piece, and a section with the bytes. All pieces but the last
/// are in frames flagged *continued*.
///
/// A value with a base is one piece, and its section holds the steps that make its bytes from those
/// of the base (`LargeValueDifference`); `LargeValueChain` makes them.
///
/// FORMAT.md, "Large values".
package struct LargeValuePiece {
  /// The value's number; never reused.
  package var number: UInt64
  /// The length of the whole value.
  package var totalLength: UInt64
  /// Where in the value this piece begins.
  package var start: UInt64
  /// The number of the earlier value that the bytes are made from; nil if they are here.
  package fileprivate(set) var base: UInt64?
  /// The items of the value's extension area, which its first piece has; empty in others.
  package var extensions: ContiguousArray<UInt8> = []
  /// The section's bytes where they are stored as they are; valid as long as the payload that the
  /// piece was decoded from.
  fileprivate var stored: UnsafeRawBufferPointer
  /// The section's bytes where they are stored deflated.
  fileprivate var inflated: ContiguousArray<UInt8>?

  package init(
    number: UInt64, totalLength: UInt64, start: UInt64, bytes: UnsafeRawBufferPointer
  ) {
    self.number = number
    self.totalLength = totalLength
    self.start = start
    stored = bytes
  }

  /// The piece that stands for a value whose bytes were lost: it begins at the value's end.
  package init(lost number: UInt64, totalLength: UInt64) {
    self.init(
      number: number, totalLength: totalLength, start: totalLength,
      bytes: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Whether the piece says that the value's bytes were lost in a salvage; it is the only one then.
  package var isLost: Bool { totalLength > 0 && start == totalLength }

  /// Whether a value begins with this piece.
  package var isFirst: Bool { start == 0 || isLost }

  /// Whether the section is stored deflated.
  package var isDeflated: Bool { inflated != nil }

  /// How many bytes of the value the piece has; with a base, how many its steps take.
  package var count: Int { inflated?.count ?? stored.count }

  /// Whether this is all of a value, and its bytes are here.
  package var isWhole: Bool { base == nil && start == 0 && UInt64(count) == totalLength }

  /// The piece with a copy of its bytes, which outlasts the payload.
  package func owned() -> LargeValuePiece {
    var result = self
    if inflated == nil { result.inflated = ContiguousArray(stored) }
    return result
  }

  /// The piece with its bytes made, and without a base.
  package func made(_ bytes: ContiguousArray<UInt8>) -> LargeValuePiece {
    var result = self
    result.base = nil
    result.inflated = bytes
    return result
  }

  /// The piece of a value that is made from `base` by these steps. Its bytes are valid as long as
  /// they are.
  package func based(on base: UInt64, _ steps: UnsafeRawBufferPointer) -> LargeValuePiece {
    var result = self
    result.base = base
    result.inflated = nil
    result.stored = steps
    return result
  }

  /// Calls `body` with the bytes of the value; with a base, with the steps that make them. Valid as
  /// long as the payload that the piece was decoded from.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let inflated else { return try body(stored) }
    return try inflated.withBytes(body)
  }
}

/// Encodes and decodes the payloads of frames of large values.
package enum LargeValueCodec {
  /// Appends a payload with the bytes as they are.
  package static func encode(_ part: LargeValuePiece, into bytes: inout ContiguousArray<UInt8>) {
    encodeHead(part, into: &bytes)
    if part.isLost { return }
    part.withBytes { ChunkSection.appendRaw($0, to: &bytes) }
  }

  /// Appends a payload with the bytes deflated if that saves a tenth.
  package static func encode(
    _ part: LargeValuePiece, into bytes: inout ContiguousArray<UInt8>, deflate: inout Deflate
  ) {
    encodeHead(part, into: &bytes)
    if part.isLost { return }
    part.withBytes { ChunkSection.append($0, to: &bytes, deflate: &deflate) }
  }

  private static func encodeHead(
    _ part: LargeValuePiece, into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(varInt: part.number)
    bytes.append(varInt: part.totalLength)
    bytes.append(varInt: part.start)
    guard part.isFirst else { return }
    bytes.append(varInt: part.base ?? 0)
    ExtensionArea.append(part.extensions, to: &bytes)
  }

  /// Reads a payload. Memory: the bytes of a deflated piece.
  package static func decode(_ payload: UnsafeRawBufferPointer) throws(DecodeFault)
    -> LargeValuePiece
  {
    var reader = ByteReader(payload)
    var part = try decodeHead(&reader)
    if part.isFirst {
      let base = try reader.readVarUInt62()
      part.base = base == 0 ? nil : base
      part.extensions = try ExtensionArea.read(&reader)
    }
    if let base = part.base {
      let isShort = part.totalLength <= LargeValueChain.maximumLength
      guard base < part.number, isShort, !part.isLost else {
        throw reader.invalid("a base where there can be none")
      }
    }
    if part.isLost {
      try reader.expectEnd()
      return part
    }
    let header = try SectionHeader(&reader, limit: FormatLimits.maximumDecodedLength)
    guard part.base != nil || UInt64(header.length) <= part.totalLength - part.start else {
      throw reader.invalid("a piece that reaches beyond its value")
    }
    switch header.compression {
    case .none: part.stored = try reader.readBytes(header.length)
    case .deflate:
      let packed = try reader.readSizedBytes()
      part.inflated = try Inflate.decompress(packed, length: header.length)
    }
    try reader.expectEnd()
    return part
  }

  /// The greatest count of bytes before a piece's base or bytes.
  package static let maximumHeadLength = 3 * VarInt.maximumLength

  /// Reads what a payload begins with: the piece without its base, extension area and bytes.
  package static func decodeHead(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> LargeValuePiece {
    let number = try reader.readVarUInt62()
    guard number > 0 else { throw reader.invalid("a large value without a number") }
    let total = try reader.readVarUInt62()
    let start = try reader.readVarUInt62()
    guard start <= total else { throw reader.invalid("a piece that begins beyond its value") }
    return LargeValuePiece(
      number: number, totalLength: total, start: start,
      bytes: UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
