import AnnalsStorage

/// Reads a file through a window, from front to back.
///
/// The size is fixed when this is made: bytes appended later are not read. Blocks that the disk
/// cannot read come back as zeros and are listed in `unreadable`, so that one bad sector does not
/// hide the rest of the file. Any other error of the system is thrown.
package struct FileBytes: Sendable {
  private let file: any StorageFile
  /// The number of bytes in the file when this was made.
  package let size: UInt64
  /// The ranges that the disk could not read, in order, merged where they touch.
  package private(set) var unreadable: [Range<UInt64>] = []
  private var window: ContiguousArray<UInt8> = []
  private var windowStart: UInt64 = 0

  /// How many bytes are read at once.
  package static let windowLength = 256 << 10
  private static let blockLength = 4096
  /// Beyond this many ranges the last one is extended, to bound memory.
  private static let maximumUnreadableRanges = 1024

  /// The bytes of an open file, which stays open as long as they are in use.
  package init(_ file: any StorageFile) throws(StorageError) {
    self.file = file
    size = try file.size()
  }

  /// Runs `body` with the bytes from `offset` on: `count` of them, fewer only at the end of the
  /// file. Throws if the system cannot read.
  package mutating func withBytes<R>(
    at offset: UInt64, count: Int, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    let available = offset < size ? Int(min(UInt64(count), size - offset)) : 0
    if available == 0 { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    if offset < windowStart || offset - windowStart > UInt64(window.count)
      || Int(offset - windowStart) > window.count - available
    {
      try fill(from: offset, count: max(available, FileBytes.windowLength))
    }
    let start = Int(offset - windowStart)
    // The file may have been truncated since: then there are fewer bytes.
    let end = min(start + available, window.count)
    return window.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
  }

  /// A copy of the bytes from `offset` on. Leaves the window where it is: for look-ups elsewhere.
  package mutating func copy(at offset: UInt64, count: Int) throws(StorageError)
    -> ContiguousArray<UInt8>
  {
    let available = offset < size ? Int(min(UInt64(count), size - offset)) : 0
    return try read(at: offset, count: available)
  }

  /// Whether the disk could not read all of these bytes.
  package func isUnreadable(_ range: Range<UInt64>) -> Bool {
    unreadable.contains { $0.overlaps(range) }
  }

  private mutating func fill(from offset: UInt64, count: Int) throws(StorageError) {
    let available = Int(min(UInt64(count), size - offset))
    window = []
    window = try read(at: offset, count: available)
    windowStart = offset
  }

  private mutating func read(at offset: UInt64, count: Int) throws(StorageError)
    -> ContiguousArray<UInt8>
  {
    var bytes = ContiguousArray<UInt8>(repeating: 0, count: count)
    var done = 0
    while done < count {
      // All at once first; block by block only where the disk fails.
      switch attempt(&bytes, from: done, count: count - done, at: offset + UInt64(done)) {
      case .success(let got):
        if got < count - done { bytes.removeLast(count - done - got) }
        return bytes
      case .failure(let error):
        guard error.isDiskDamage else { throw error }
        done = try readBlocks(&bytes, from: done, at: offset)
      }
    }
    return bytes
  }

  /// Reads up to and past the first block that the disk cannot read; returns where to go on.
  private mutating func readBlocks(
    _ bytes: inout ContiguousArray<UInt8>, from start: Int, at offset: UInt64
  ) throws(StorageError) -> Int {
    var done = start
    while done < bytes.count {
      let place = offset + UInt64(done)
      let toBlockEnd = FileBytes.blockLength - Int(place % UInt64(FileBytes.blockLength))
      let count = min(toBlockEnd, bytes.count - done)
      if case .failure(let error) = attempt(&bytes, from: done, count: count, at: place) {
        guard error.isDiskDamage else { throw error }
        for index in done..<done + count { bytes[index] = 0 }
        remember(place..<place + UInt64(count))
        return done + count
      }
      done += count
    }
    return done
  }

  private func attempt(
    _ bytes: inout ContiguousArray<UInt8>, from start: Int, count: Int, at offset: UInt64
  ) -> Result<Int, StorageError> {
    bytes.withUnsafeMutableBytes { buffer in
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + count])
      do throws(StorageError) {
        return .success(try file.read(into: part, at: offset))
      } catch {
        return .failure(error)
      }
    }
  }

  private mutating func remember(_ range: Range<UInt64>) {
    if let last = unreadable.last, last.lowerBound <= range.lowerBound {
      if range.upperBound <= last.upperBound { return }
      if range.lowerBound <= last.upperBound
        || unreadable.count == FileBytes.maximumUnreadableRanges
      {
        unreadable[unreadable.count - 1] = last.lowerBound..<range.upperBound
        return
      }
    } else if isUnreadable(range) || unreadable.count == FileBytes.maximumUnreadableRanges {
      return
    }
    unreadable.append(range)
    unreadable.sort { $0.lowerBound < $1.lowerBound }
  }
}
