import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// The seed of a file's checksums, found even where the header is damaged.
///
/// The seed is the crc32 of the store's UUID and the generation, both in the header. If the header
/// is damaged, two ways are left. The two fields may be intact, which one valid slot or frame
/// proves. And a crc32 can be run backwards over the bytes it covers to the value it started from,
/// so any intact slot or frame gives the seed.
enum SeedSearch {
  /// How far into the log the search for an intact frame goes.
  private static let searchLength: UInt64 = 16 << 20
  /// How many payloads of plausible frames the search tests at most, and their greatest length.
  private static let maximumTries = 4096
  private static let maximumTriedPayload: UInt32 = 1 << 20

  /// Searches for the seed of a file with a damaged header; nil if nothing in it gives it.
  static func find(in bytes: inout FileWindow) throws(StorageError) -> FrameSeed? {
    if let seed = try seedOfFields(in: &bytes), try proves(seed, in: &bytes) { return seed }
    for (index, offset) in FormatLimits.slotOffsets.enumerated() {
      if let seed = try seedOfSlot(index, at: offset, in: &bytes) { return seed }
    }
    return try seedOfFrame(in: &bytes)
  }

  /// The seed of the UUID and generation in the header's fields.
  private static func seedOfFields(in bytes: inout FileWindow) throws(StorageError) -> FrameSeed? {
    try bytes.withBytes(at: 32, count: 24) { field in
      guard field.count == 24 else { return nil }
      let generation = field.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
      return FrameSeed(store: RawUUID(bytes: field), generation: UInt64(littleEndian: generation))
    }
  }

  /// Whether a slot or the first frame is valid with this seed.
  static func proves(
    _ seed: FrameSeed, in bytes: inout FileWindow
  ) throws(StorageError) -> Bool {
    for (index, offset) in FormatLimits.slotOffsets.enumerated() {
      let isValid = try bytes.withBytes(at: offset, count: FormatLimits.blockLength) {
        (try? RootSlot.decode($0, index: index, seed: seed)) != nil
      }
      if isValid { return true }
    }
    return try fitsFirstFrame(seed, in: &bytes)
  }

  /// Whether the first frame is valid with this seed.
  static func fitsFirstFrame(
    _ seed: FrameSeed, in bytes: inout FileWindow
  ) throws(StorageError) -> Bool {
    let start = FormatLimits.logStart
    return try bytes.withBytes(at: start, count: FormatLimits.frameHeaderLength) {
      (try? FrameHeader.decode($0, at: start, seed: seed)) != nil
    }
  }

  /// The seed that makes the slot valid, if its other fields are as a slot's must be. The magic and
  /// the four thousand zeros in it are proof enough.
  private static func seedOfSlot(
    _ index: Int, at offset: UInt64, in bytes: inout FileWindow
  ) throws(StorageError) -> FrameSeed? {
    try bytes.withBytes(at: offset, count: FormatLimits.blockLength) { slot in
      guard slot.count == FormatLimits.blockLength else { return nil }
      let covered = UnsafeRawBufferPointer(rebasing: slot.dropLast(4))
      let checksum = slot.loadUnaligned(fromByteOffset: covered.count, as: UInt32.self)
      let seed = FrameSeed(
        checksum: UInt32(littleEndian: checksum), of: covered, at: offset)
      return (try? RootSlot.decode(slot, index: index, seed: seed)) == nil ? nil : seed
    }
  }

  /// The seed that makes both the header and the payload of some frame valid.
  private static func seedOfFrame(in bytes: inout FileWindow) throws(StorageError) -> FrameSeed? {
    let headerLength = FormatLimits.frameHeaderLength
    var tries = 0
    var offset = FormatLimits.logStart
    let end = min(bytes.size, FormatLimits.logStart + searchLength)
    while offset < end, end - offset >= UInt64(headerLength), tries < maximumTries {
      let candidate = try bytes.withBytes(at: offset, count: headerLength) { header in
        FrameSearch.isPlausible(header) ? seedOfHeader(header, at: offset) : nil
      }
      if let (seed, header) = candidate, header.payloadLength <= maximumTriedPayload,
        header.payloadLength > 0
      {
        tries += 1
        let place = offset
        let fits = try bytes.withBytes(at: place, count: headerLength + Int(header.payloadLength)) {
          seed.checksum(UnsafeRawBufferPointer(rebasing: $0.dropFirst(headerLength)), at: place)
            == header.payloadChecksum
        }
        if fits { return seed }
      }
      offset += UInt64(FormatLimits.frameAlignment)
    }
    return nil
  }

  private static func seedOfHeader(
    _ header: UnsafeRawBufferPointer, at offset: UInt64
  ) -> (FrameSeed, FrameHeader)? {
    let checksum = header.loadUnaligned(as: UInt32.self)
    let covered = UnsafeRawBufferPointer(rebasing: header.dropFirst(4))
    let seed = FrameSeed(checksum: UInt32(littleEndian: checksum), of: covered, at: offset)
    return (try? FrameHeader.decode(header, at: offset, seed: seed)).map { (seed, $0) }
  }
}

extension FrameSeed {
  /// The seed with which `bytes`, at `offset` in a file, have this checksum: there is exactly one.
  init(checksum: UInt32, of bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    let place = Checksum.start(of: checksum, over: bytes)
    self.init(
      start: withUnsafeBytes(of: offset.littleEndian) { Checksum.start(of: place, over: $0) })
  }
}

extension Checksum {
  /// The crc32 from which `bytes` lead to `end`: the computation run backwards, bit by bit.
  static func start(of end: UInt32, over bytes: UnsafeRawBufferPointer) -> UInt32 {
    var register = ~end
    for byte in bytes.reversed() {
      for _ in 0..<8 {
        // Going forward, a register whose lost bit is 1 is XORed with the polynomial, whose highest
        // bit is set. So the highest bit tells whether it was.
        let lost = register >> 31
        register = (lost == 1 ? register ^ 0xEDB8_8320 : register) << 1 | lost
      }
      register ^= UInt32(byte)
    }
    return ~register
  }
}
