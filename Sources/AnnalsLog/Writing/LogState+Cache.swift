import AnnalsFormat
import AnnalsStorage

// Comparing the cache with the disk. After a failed sync, in whatever process, the cache may show
// bytes that the disk lacks, and call them clean.

extension LogState {
  /// Makes sure that the disk has these bytes, which nothing proves to have been synced. Returns
  /// whether anything was written, so that a sync must follow.
  ///
  /// Writes only bytes that the disk lacks: if the power fails meanwhile, a sector with
  /// acknowledged transactions may be garbled. If the system cannot read past its cache, writes all
  /// of them.
  func rewriteMissing(in range: Range<UInt64>) throws -> Bool {
    let file = generation.file
    var hasWritten = false
    var offset = range.lowerBound
    while offset < range.upperBound {
      let bytes = try generation.read(Int(min(range.upperBound - offset, 1 << 20)), at: offset)
      guard !bytes.isEmpty else { break }
      var held = ContiguousArray<UInt8>(repeating: 0, count: bytes.count)
      let count = try held.withUnsafeMutableBytes { try file.readPastCache(into: $0, at: offset) }
      for range in LogState.differences(bytes, held, count, from: offset) {
        try bytes.withUnsafeBytes {
          try file.write(
            UnsafeRawBufferPointer(rebasing: $0[range]), at: offset + UInt64(range.lowerBound))
        }
        hasWritten = true
      }
      offset += UInt64(bytes.count)
    }
    return hasWritten
  }

  /// Notes that the log now includes what others have appended, up to `end`.
  mutating func noteForeign(upTo end: UInt64) {
    let start = min(unchecked?.lowerBound ?? durableMark, durableMark)
    unchecked = start < end ? start..<end : nil
  }

  /// Makes sure, before a sync that is to cover it, that the disk has what others appended. Throws
  /// `storage`, with nothing changed, if it cannot be read; `outcomeUnknown`, poisoned, if a write
  /// failed.
  mutating func checkForeign() throws(LogError) {
    guard let range = unchecked else { return }
    try ensureOnDisk(range)
    unchecked = nil
  }

  /// Writes again those of these bytes that the disk lacks, before a sync that is to cover them.
  /// Throws `storage`, with nothing changed, if they cannot be read; `outcomeUnknown`, poisoned, if
  /// a write failed.
  mutating func ensureOnDisk(_ range: Range<UInt64>) throws(LogError) {
    do {
      _ = try rewriteMissing(in: range)
    } catch {
      guard let error = error as? StorageError, error.operation == .write else {
        throw LogError(error)
      }
      throw poison(error)
    }
  }

  /// The ranges of `bytes` that differ from the `count` bytes `held` by the disk, at most one per
  /// sector; all of them if `count` is nil. The bytes lie at `offset` in the file.
  private static func differences(
    _ bytes: ContiguousArray<UInt8>, _ held: ContiguousArray<UInt8>, _ count: Int?,
    from offset: UInt64
  ) -> [Range<Int>] {
    guard let count else { return [0..<bytes.count] }
    let sectorSize = 512
    var ranges: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let inSector = Int((offset + UInt64(start)) % UInt64(sectorSize))
      let end = min(bytes.count, start + sectorSize - inSector)
      let differing = (start..<end).filter { $0 >= count || bytes[$0] != held[$0] }
      if let first = differing.first, let last = differing.last { ranges.append(first..<last + 1) }
      start = end
    }
    return ranges
  }
}
