import AnnalsModel
import CProcessor
import CZlib

/// The checksum of the format: CRC-32 as zlib computes it (polynomial 0xEDB88320 reflected, initial
/// value and final exclusive or 0xFFFFFFFF).
package enum Checksum {
  /// From how many bytes on zlib is the faster one; see `ChecksumTables`.
  private static let shortLength = 640
  /// From how many bytes on the processor's own instructions are, where it has them.
  private static let foldedLength = 112
  private static let hasInstructions = annals_crc32_is_built_in() != 0

  /// The crc32 of bytes, continuing from the crc32 of those before them.
  package static func crc32(
    _ bytes: UnsafeRawBufferPointer, startingFrom start: UInt32 = 0
  ) -> UInt32 {
    // zlib answers 0, not `start`, for a null pointer; and it counts in 32 bits.
    guard let base = bytes.baseAddress, bytes.count > 0 else { return start }
    if bytes.count >= foldedLength, hasInstructions {
      return folded(bytes, base, startingFrom: start)
    }
    return portable(bytes, startingFrom: start)
  }

  /// The same by the processor's instructions, of 64 bytes or more: all but the last few are folded
  /// to sixteen, which take their place.
  private static func folded(
    _ bytes: UnsafeRawBufferPointer, _ base: UnsafeRawPointer, startingFrom start: UInt32
  ) -> UInt32 {
    let count = bytes.count & ~15
    var rest = (0 as UInt64, 0 as UInt64)
    return withUnsafeMutableBytes(of: &rest) { rest in
      annals_crc32_fold(~start, base, count, rest.baseAddress)
      let tables = ChecksumTables.shared
      let folded = tables.crc32(UnsafeRawBufferPointer(rest), startingFrom: ~0)
      return tables.crc32(UnsafeRawBufferPointer(rebasing: bytes[count...]), startingFrom: folded)
    }
  }

  /// The same without them.
  package static func portable(
    _ bytes: UnsafeRawBufferPointer, startingFrom start: UInt32 = 0
  ) -> UInt32 {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return start }
    if bytes.count < shortLength {
      return ChecksumTables.shared.crc32(bytes, startingFrom: start)
    }
    var result = uLong(start)
    var done = 0
    while done < bytes.count {
      let count = min(bytes.count - done, 1 << 30)
      let next = base.advanced(by: done).assumingMemoryBound(to: UInt8.self)
      result = CZlib.crc32(result, next, uInt(count))
      done += count
    }
    return UInt32(truncatingIfNeeded: result)
  }
}

/// The seed of the checksums of frames and root slots: store UUID, generation and the place in the
/// file, so that a stale or copied frame never fits.
package struct FrameSeed: Hashable, Sendable {
  /// The crc32 of the UUID's sixteen bytes and the generation.
  private let start: UInt32

  /// The seed of one generation of one store.
  package init(store: RawUUID, generation: UInt64) {
    var bytes: ContiguousArray<UInt8> = []
    store.append(to: &bytes)
    bytes.append(fixed: generation)
    start = bytes.withUnsafeBytes { Checksum.crc32($0) }
  }

  /// The seed of a store whose header is lost, found by other means.
  package init(start: UInt32) { self.start = start }

  /// The checksum of bytes that belong to the frame or slot at `offset`.
  package func checksum(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> UInt32 {
    let place = withUnsafeBytes(of: offset.littleEndian) {
      Checksum.crc32($0, startingFrom: start)
    }
    return Checksum.crc32(bytes, startingFrom: place)
  }

  /// The checksum that bytes have which belong to the frame at `offset`, from their own crc32 and
  /// their count. O(log count).
  package func checksum(ofBytesWith crc: UInt32, count: Int, at offset: UInt64) -> UInt32 {
    let place = withUnsafeBytes(of: offset.littleEndian) {
      Checksum.crc32($0, startingFrom: start)
    }
    return UInt32(truncatingIfNeeded: crc32_combine(uLong(place), uLong(crc), .init(count)))
  }
}
