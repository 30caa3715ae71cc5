import AnnalsModel

/// One piece of a large value: the value's number and length, the piece's position in it, the
/// extension area in the first piece, and the bytes. All pieces but the last are in frames flagged
/// *continued*.
///
/// FORMAT.md, "Large values".
package struct LargeValuePiece {
  /// The value's number; never reused.
  package var number: UInt64
  /// The length of the whole value.
  package var totalLength: UInt64
  /// Where in the value this piece begins.
  package var start: UInt64
  /// The items of the value's extension area, which its first piece has; empty in others.
  package var extensions: ContiguousArray<UInt8> = []
  /// The piece; valid as long as the payload it was decoded from.
  package var bytes: UnsafeRawBufferPointer

  package init(
    number: UInt64, totalLength: UInt64, start: UInt64, bytes: UnsafeRawBufferPointer
  ) {
    self.number = number
    self.totalLength = totalLength
    self.start = start
    self.bytes = bytes
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
}

/// Encodes and decodes the payloads of frames of large values.
package enum LargeValueCodec {
  /// Appends a payload.
  package static func encode(_ part: LargeValuePiece, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: part.number)
    bytes.append(varInt: part.totalLength)
    bytes.append(varInt: part.start)
    if part.isFirst { ExtensionArea.append(part.extensions, to: &bytes) }
    bytes.append(contentsOf: part.bytes)
  }

  /// Reads a payload.
  package static func decode(_ payload: UnsafeRawBufferPointer) throws(DecodeFault)
    -> LargeValuePiece
  {
    var reader = ByteReader(payload)
    var part = try decodeHead(&reader)
    if part.isFirst { part.extensions = try ExtensionArea.read(&reader) }
    guard UInt64(reader.remaining) <= part.totalLength - part.start else {
      throw reader.invalid("a piece that reaches beyond its value")
    }
    part.bytes = try reader.readBytes(reader.remaining)
    return part
  }

  /// The greatest count of bytes before a piece's extension area or bytes.
  package static let maximumHeadLength = 3 * VarInt.maximumLength

  /// Reads what a payload begins with: the piece without its extension area and bytes.
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
