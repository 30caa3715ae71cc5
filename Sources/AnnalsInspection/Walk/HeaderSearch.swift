import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// Recovers the header of a file whose first block is damaged.
///
/// Each root slot holds a copy of the header. A slot whose checksum matches the UUID and generation
/// in its own copy proves that copy. Without such a slot, a header with one flipped bit can be
/// repaired: its own checksum tells which bit, and a slot or the first frame must then be valid.
enum HeaderSearch {
  /// The header; nil if it cannot be recovered, or only a newer version can read it.
  static func find(
    header: HeaderVerdict, in bytes: inout FileWindow
  ) throws(StorageError) -> FileHeader? {
    if case .valid(let header) = header { return header }
    // A flipped bit can make a header look like one of a newer version. Valid slots then prove
    // otherwise.
    if let header = try inSlots(&bytes) { return header }
    return try withOneBitRestored(&bytes)
  }

  /// Whether a valid header is not the one that the log was written under.
  ///
  /// It is foreign if a slot proves another header and the first frame is valid with that one; or,
  /// if the first frame is valid with neither, no slot is valid with this header.
  static func isForeign(
    _ header: FileHeader, in bytes: inout FileWindow
  ) throws(StorageError) -> Bool {
    var others: [FileHeader] = []
    for (index, offset) in FormatLimits.slotOffsets.enumerated() {
      let other = try bytes.withBytes(at: offset, count: FormatLimits.blockLength) {
        RootSlot.identity(provenBy: $0, index: index, notOf: header)
      }
      if let other { others.append(other) }
    }
    if others.isEmpty { return false }
    if try SeedSearch.fitsFirstFrame(header.seed, in: &bytes) { return false }
    for other in others where try SeedSearch.fitsFirstFrame(other.seed, in: &bytes) { return true }
    return try !SeedSearch.proves(header.seed, in: &bytes)
  }

  private static func inSlots(_ bytes: inout FileWindow) throws(StorageError) -> FileHeader? {
    // If two differ, the one with which the first frame is valid wins, otherwise the newer.
    var newest: (fits: Bool, sequence: UInt64, header: FileHeader)?
    for (index, offset) in FormatLimits.slotOffsets.enumerated() {
      let found = try bytes.withBytes(at: offset, count: FormatLimits.blockLength) { block in
        RootSlot.header(in: block).flatMap { header in
          (try? RootSlot.decode(block, index: index, seed: header.seed)).map {
            (sequence: $0.sequence, header: header)
          }
        }
      }
      guard let found else { continue }
      let fits = try SeedSearch.fitsFirstFrame(found.header.seed, in: &bytes)
      if let newest, newest.fits && !fits || newest.fits == fits && newest.sequence > found.sequence
      {
        continue
      }
      newest = (fits, found.sequence, found.header)
    }
    return newest?.header
  }

  private static func withOneBitRestored(
    _ bytes: inout FileWindow
  ) throws(StorageError) -> FileHeader? {
    let length = FormatLimits.blockLength
    var block = try bytes.withBytes(at: 0, count: length) { ContiguousArray($0) }
    guard block.count == length, let bit = flippedBit(of: block) else { return nil }
    block[bit / 8] ^= 1 << UInt8(bit % 8)
    guard let header = block.withUnsafeBytes({ try? FileHeader.decode($0) }) else { return nil }
    return try SeedSearch.proves(header.seed, in: &bytes) ? header : nil
  }

  /// The one bit of a block that, flipped, makes its checksum match; nil if there is none.
  ///
  /// A flipped bit changes the checksum by a pattern that depends on its position alone. The loop
  /// tries the positions from the last to the first, one step of the crc32 register each.
  private static func flippedBit(of block: ContiguousArray<UInt8>) -> Int? {
    let covered = block.count - 4
    let (stored, computed) = block.withUnsafeBytes { bytes in
      (
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: covered, as: UInt32.self)),
        Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[..<covered]))
      )
    }
    let difference = stored ^ computed
    if difference == 0 { return nil }
    if difference.nonzeroBitCount == 1 {
      return covered * 8 + difference.trailingZeroBitCount
    }
    var register: UInt32 = 0xEDB8_8320
    for bit in (0..<covered * 8).reversed() {
      if register == difference { return bit }
      register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1
    }
    return nil
  }
}
