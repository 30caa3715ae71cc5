import AnnalsFormat
import AnnalsModel

/// The first 128 bytes of a segment; the bytes of the log from `start` to `end` follow.
///
/// Docs/Shipping.md has the table of fields.
package struct SegmentHeader: Hashable, Sendable {
  /// What the file's name says, too.
  package var name: ShippedName
  /// Where in the store's file the bytes begin: where the base or the segment before ends.
  package var start: UInt64
  /// Where they end: after a whole unit.
  package var end: UInt64
  /// The last transaction before them.
  package var headBefore: Int64
  /// The last transaction up to their end.
  package var head: Int64
  /// The timestamp of the last transaction in them; nil if there is none.
  package var timestamp: Timestamp?
  /// The header checksum of the frame before `start`.
  package var previousChecksum: UInt32
  /// The header checksum of the last frame.
  package var lastChecksum: UInt32
  /// Where the last frame begins.
  package var lastFrame: UInt64
  /// The crc32 of the bytes.
  package var checksum: UInt32 = 0

  package static let magic: [UInt8] = [0x89, 0x41, 0x53, 0x45, 0x47, 0x0D, 0x0A, 0x1A]
  package static let version: UInt32 = 1
  package static let length = 128
  /// The most bytes in a segment, but for a unit that is longer.
  package static let usualLimit: UInt64 = 64 << 20

  /// How many bytes of the log follow.
  package var byteCount: UInt64 { end - start }
  /// The place in the log after them.
  package var endPoint: ChainPoint {
    ChainPoint(offset: end, previousChecksum: lastChecksum, previousOffset: lastFrame)
  }

  /// The 128 bytes.
  package func encode() -> ContiguousArray<UInt8> {
    var bytes = ContiguousArray(SegmentHeader.magic)
    bytes.append(fixed: SegmentHeader.version)
    bytes.append(fixed: 0 as UInt32)
    name.store.append(to: &bytes)
    bytes.append(fixed: name.generation)
    bytes.append(fixed: name.base)
    bytes.append(fixed: name.order)
    bytes.append(fixed: start)
    bytes.append(fixed: end)
    bytes.append(fixed: headBefore)
    bytes.append(fixed: head)
    bytes.append(fixed: lastFrame)
    bytes.append(fixed: previousChecksum)
    bytes.append(fixed: lastChecksum)
    bytes.append(fixed: timestamp?.microseconds ?? 0)
    bytes.append(fixed: (timestamp == nil ? 0 : 1) as UInt64)
    bytes.append(fixed: checksum)
    bytes.append(fixed: bytes.withUnsafeBytes { Checksum.crc32($0) })
    return bytes
  }

  /// Reads the header of the segment `name` from its first bytes. Throws `ShippingFault`.
  package init(_ bytes: ContiguousArray<UInt8>, of name: ShippedName) throws {
    guard bytes.count >= SegmentHeader.length else {
      throw ShippingFault.damaged(name, "is cut within its first \(SegmentHeader.length) bytes")
    }
    guard bytes.prefix(8).elementsEqual(SegmentHeader.magic) else {
      throw ShippingFault.damaged(name, "is not a segment")
    }
    if let version = SegmentHeader.newerVersion(bytes) { throw ShippingFault.newer(name, version) }
    let found = bytes.withUnsafeBytes { bytes -> SegmentHeader? in
      var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[8..<SegmentHeader.length]))
      let covered = UnsafeRawBufferPointer(rebasing: bytes[..<(SegmentHeader.length - 4)])
      return try? SegmentHeader(&reader, checksum: Checksum.crc32(covered), name)
    }
    guard let found else { throw ShippingFault.damaged(name, "has a damaged header") }
    guard found.name == name else {
      throw ShippingFault.damaged(name, "was renamed: its own name is \(found.name.text)")
    }
    self = found
  }

  /// The version of a whole header, if it is a later one: they keep its length and the places of
  /// version and checksum.
  private static func newerVersion(_ bytes: ContiguousArray<UInt8>) -> UInt32? {
    bytes.withUnsafeBytes { bytes in
      var start = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[8..<length]))
      var end = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[(length - 4)..<length]))
      guard let version = try? start.read(UInt32.self), version > SegmentHeader.version,
        let checksum = try? end.read(UInt32.self)
      else { return nil }
      let covered = UnsafeRawBufferPointer(rebasing: bytes[..<(length - 4)])
      return Checksum.crc32(covered) == checksum ? version : nil
    }
  }

  /// Reads what follows the magic; nil if it was changed. Throws `DecodeFault`, `ShippingFault`.
  private init?(_ reader: inout ByteReader, checksum: UInt32, _ expected: ShippedName) throws {
    let version = try reader.read(UInt32.self)
    guard try reader.read(UInt32.self) == 0, version == SegmentHeader.version else { return nil }
    let store = try reader.readUUID()
    let generation = try reader.read(UInt64.self)
    let base = try reader.read(UInt64.self)
    name = ShippedName(
      store: store, base: base, generation: generation, order: try reader.read(UInt64.self))
    start = try reader.readNumber()
    end = try reader.readNumber()
    headBefore = Int64(try reader.readNumber())
    head = Int64(try reader.readNumber())
    lastFrame = try reader.readNumber()
    previousChecksum = try reader.read(UInt32.self)
    lastChecksum = try reader.read(UInt32.self)
    let microseconds = try reader.read(Int64.self)
    timestamp =
      try reader.read(UInt64.self) == 0 ? nil : Timestamp(microseconds: microseconds)
    self.checksum = try reader.read(UInt32.self)
    guard try reader.read(UInt32.self) == checksum, FrameHeader.mayBegin(at: start),
      FrameHeader.mayBegin(at: lastFrame), lastFrame >= start, end > lastFrame, head >= headBefore,
      end % UInt64(FormatLimits.frameAlignment) == 0
    else { return nil }
  }

  package init(
    name: ShippedName, from start: ChainPoint, to end: ChainPoint, headBefore: Int64, head: Int64,
    timestamp: Timestamp?
  ) {
    self.name = name
    self.start = start.offset
    self.end = end.offset
    self.headBefore = headBefore
    self.head = head
    self.timestamp = timestamp
    previousChecksum = start.previousChecksum ?? 0
    lastChecksum = end.previousChecksum ?? 0
    lastFrame = end.previousOffset
  }
}
