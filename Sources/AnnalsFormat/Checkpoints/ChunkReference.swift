/// The place of a chunk, and what it contains.
package struct ChunkReference: Hashable, Sendable {
  /// The offset of the chunk's frame in the file.
  package var offset: UInt64
  /// The length of its payload.
  package var length: UInt32
  /// The crc32 of the payload, from 0 (not seeded: it stays when a rewrite moves the chunk).
  package var checksum: UInt32
  /// The first row or ordinal that the chunk is for.
  package var first: Int64
  /// How many live rows or entries it holds.
  package var count: UInt32

  package init(offset: UInt64, length: UInt32, checksum: UInt32, first: Int64, count: UInt32) {
    self.offset = offset
    self.length = length
    self.checksum = checksum
    self.first = first
    self.count = count
  }

  static let minimumLength = 8

  func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: offset)
    bytes.append(varInt: UInt64(length))
    bytes.append(fixed: checksum)
    bytes.append(varInt: UInt64(bitPattern: first))
    bytes.append(varInt: UInt64(count))
  }

  init(_ reader: inout ByteReader) throws(DecodeFault) {
    let start = reader.offset
    offset = try reader.readVarInt()
    guard offset >= FormatLimits.logStart, offset % UInt64(FormatLimits.frameAlignment) == 0,
      offset <= UInt64(Int64.max)
    else { throw .invalid(at: start, reason: "a chunk that is not where frames are") }
    length = try reader.readVarUInt32()
    guard length <= UInt32(FormatLimits.maximumPayload) else {
      throw .tooLarge(at: start, limit: UInt64(FormatLimits.maximumPayload))
    }
    checksum = try reader.read(UInt32.self)
    first = try reader.readVarInt64()
    count = try reader.readVarUInt32()
  }

  static func encode(_ list: [ChunkReference], into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(count: list.count)
    for reference in list { reference.encode(into: &bytes) }
  }

  /// Reads a list of references whose first rows rise.
  static func decodeList(_ reader: inout ByteReader) throws(DecodeFault) -> [ChunkReference] {
    let count = try reader.readCount(
      limit: FormatLimits.maximumPayload, minimumLength: minimumLength)
    return try decodeList(&reader, count: count)
  }

  /// Reads so many references whose first rows rise.
  static func decodeList(
    _ reader: inout ByteReader, count: Int
  ) throws(DecodeFault) -> [ChunkReference] {
    var result: [ChunkReference] = []
    result.reserveCapacity(count)
    for _ in 0..<count {
      let reference = try ChunkReference(&reader)
      if let last = result.last, reference.first <= last.first {
        throw reader.invalid("chunks out of order")
      }
      result.append(reference)
    }
    return result
  }
}

extension FrameWriter {
  /// Appends the frame of a chunk, or of tombstones; returns its reference.
  package mutating func append(
    chunk payload: UnsafeRawBufferPointer, kind: FrameKind = .chunk, flags: FrameFlags = [],
    first: Int64, count: UInt32
  ) -> ChunkReference {
    let crc = Checksum.crc32(payload)
    // To go over a short payload once more costs less than to combine checksums.
    let isLong = payload.count >= FrameWriter.worthCombining
    append(kind: kind, flags: flags, payload: payload, crc: isLong ? crc : nil)
    return ChunkReference(
      offset: point.previousOffset, length: UInt32(payload.count), checksum: crc, first: first,
      count: count)
  }

  private static let worthCombining = 2_048
}
