import AnnalsFormat
import AnnalsStorage

// Seeing through the cache: after a sync that failed, in whatever process, it may show what the
// disk does not have, and call it clean.

extension LogState {
  /// Makes sure that the disk has these bytes, which nothing proves to have been synced.
  /// Returns whether anything was written, which a sync has to follow.
  ///
  /// Only bytes that the disk does not have are written: if the power fails meanwhile, a sector in
  /// which acknowledged transactions lie may be garbled. Where the system cannot tell what the disk
  /// has, all are written.
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

  /// Notes that the log now holds, up to `end`, what others have appended.
  mutating func noteForeign(upTo end: UInt64) {
    let start = min(unchecked?.lowerBound ?? durableMark, durableMark)
    unchecked = start < end ? start..<end : nil
  }

  /// Makes sure, before a sync that is to cover it, that the disk has what others appended. Throws
  /// `storage`, nothing changed, if it could not be read; `outcomeUnknown`, poisoned, if a write
  /// failed.
  mutating func checkForeign() throws(LogError) {
    guard let range = unchecked else { return }
    try ensureOnDisk(range)
    unchecked = nil
  }

  /// Writes again what the disk does not have of these bytes, before a sync that is to cover them.
  /// Throws `storage`, nothing changed, if they could not be read; `outcomeUnknown`, poisoned, if a
  /// write failed.
  mutating func ensureOnDisk(_ range: Range<UInt64>) throws(LogError) {
    do {
      _ = try rewriteMissing(in: range)
    } catch let error as StorageError {
      guard error.operation == .write else { throw .storage(error) }
      poison(error, writtenUpTo: frames.offset)
      throw .outcomeUnknown(error)
    } catch let error as LogError {
      throw error
    } catch {
      throw .interrupted(error)
    }
  }

  /// The ranges of `bytes` that differ from what the disk holds, `count` bytes of `held`, at most
  /// one in each sector; everything if that is not known. The bytes lie at `offset` in the file.
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
