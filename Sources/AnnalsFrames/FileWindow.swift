import AnnalsModel
import AnnalsStorage

/// Reads a file through a window, mostly from front to back.
///
/// Reads at least `leastRead` bytes at once, and twice as many each time that the window goes on
/// where it ended, up to 256 KiB. The size is fixed when this is made: bytes appended later are not
/// read. Memory: the window, or what was asked for at once if that is longer.
@usableFromInline
package struct FileWindow: Sendable {
  /// What to do where the disk cannot read.
  package enum Failures: Sendable {
    /// Throw the error.
    case thrown
    /// Take the block for zeros and list it in `unreadable`, so that one bad sector does not hide
    /// the rest of the file. Any other error of the system is thrown.
    case passed
  }

  private let file: any StorageFile
  private let failures: Failures
  /// The number of bytes that are read: those in the file when this was made, or fewer.
  package let size: UInt64
  /// The ranges that the disk could not read, in order, merged where they touch.
  package private(set) var unreadable: [Range<UInt64>] = []
  @usableFromInline package private(set) var window: ContiguousArray<UInt8> = []
  @usableFromInline package private(set) var windowStart: UInt64 = 0
  private var nextRead: Int
  private let leastRead: Int

  /// The most bytes that are read at once without being asked for.
  package static let greatestRead = 256 << 10
  private static let blockLength = 4096
  /// Beyond this many ranges the last one is extended, to bound memory.
  private static let maximumUnreadableRanges = 1024

  /// The first `size` bytes of an open file, which stays open as long as its owner keeps it so. The
  /// first read is of `first` bytes, if that is more than `leastRead`.
  package init(
    _ file: any StorageFile, size: UInt64, leastRead: Int = FileWindow.greatestRead,
    first: Int = 0, failures: Failures = .thrown
  ) {
    self.file = file
    self.size = size
    self.leastRead = leastRead
    self.failures = failures
    nextRead = max(first, leastRead)
  }

  /// All bytes of an open file, read in large pieces, past blocks that the disk cannot read.
  package init(_ file: any StorageFile) throws(StorageError) {
    self.init(file, size: try file.size(), failures: .passed)
  }

  /// Runs `body` with the bytes from `offset` on: `count` of them, fewer only at the end of the
  /// file. Throws if the system cannot read.
  @inlinable
  package mutating func withBytes<R>(
    at offset: UInt64, count: Int, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    try load(offset, count: count)
    return withLoaded(from: offset) { body(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
  }

  /// Runs `body` with the bytes from `offset` on that are loaded; none if it is not in the window.
  @inlinable @inline(__always)
  package func withLoaded<R>(
    from offset: UInt64, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    window.withUnsafeBytes { bytes in
      let isInside = offset >= windowStart && offset - windowStart < UInt64(bytes.count)
      let start = isInside ? Int(offset - windowStart) : bytes.count
      return body(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
  }

  /// Loads `count` bytes from `offset` on into the window, or as many as the file has.
  @usableFromInline
  package mutating func load(_ offset: UInt64, count: Int) throws(StorageError) {
    let left = size > offset ? size - offset : 0
    let needed = min(UInt64(count), left)
    let windowEnd = windowStart + UInt64(window.count)
    if needed == 0 || offset >= windowStart && offset + needed <= windowEnd { return }
    if !window.isEmpty {
      let follows = offset >= windowStart && offset <= windowEnd
      nextRead = follows ? min(nextRead * 2, FileWindow.greatestRead) : leastRead
    }
    let wanted = min(max(needed, UInt64(nextRead)), left)
    // Released before the next is made.
    window = []
    window = try read(Int(wanted), at: offset)
    windowStart = offset
  }

  /// A copy of the bytes from `offset` on, fewer than `count` only at the end of the file. Leaves
  /// the window where it is: for look-ups elsewhere.
  package mutating func copy(at offset: UInt64, count: Int) throws(StorageError)
    -> ContiguousArray<UInt8>
  {
    try read(offset < size ? Int(min(UInt64(count), size - offset)) : 0, at: offset)
  }

  /// Whether the disk could not read all of these bytes.
  package func isUnreadable(_ range: Range<UInt64>) -> Bool {
    unreadable.contains { $0.overlaps(range) }
  }

  private mutating func read(
    _ count: Int, at offset: UInt64
  ) throws(StorageError) -> ContiguousArray<UInt8> {
    do throws(StorageError) {
      return try file.bytes(count, at: offset)
    } catch {
      guard case .passed = failures, error.isDiskDamage else { throw error }
      return try readByBlock(count, at: offset)
    }
  }

  /// Reads block by block, with zeros in place of those that the disk cannot read.
  private mutating func readByBlock(
    _ count: Int, at offset: UInt64
  ) throws(StorageError) -> ContiguousArray<UInt8> {
    var bytes = ContiguousArray<UInt8>(repeating: 0, count: count)
    var done = 0
    while done < count {
      let place = offset + UInt64(done)
      let toBlockEnd = FileWindow.blockLength - Int(place % UInt64(FileWindow.blockLength))
      let length = min(toBlockEnd, count - done)
      do throws(StorageError) {
        let got = try bytes.withMutableBytes { buffer throws(StorageError) in
          let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length])
          return try file.read(into: part, at: place)
        }
        if got < length {
          bytes.removeLast(count - done - got)
          return bytes
        }
      } catch {
        guard error.isDiskDamage else { throw error }
        for index in done..<done + length { bytes[index] = 0 }
        remember(place..<place + UInt64(length))
      }
      done += length
    }
    return bytes
  }

  private mutating func remember(_ range: Range<UInt64>) {
    if let last = unreadable.last, last.lowerBound <= range.lowerBound {
      if range.upperBound <= last.upperBound { return }
      if range.lowerBound <= last.upperBound
        || unreadable.count == FileWindow.maximumUnreadableRanges
      {
        unreadable[unreadable.count - 1] = last.lowerBound..<range.upperBound
        return
      }
    } else if isUnreadable(range) || unreadable.count == FileWindow.maximumUnreadableRanges {
      return
    }
    unreadable.append(range)
    unreadable.sort { $0.lowerBound < $1.lowerBound }
  }
}
