import AnnalsStorage
import SystemPackage

/// A call to a `FaultyFileSystem` that changes something, so that the power can fail at it.
package struct FaultPoint: Sendable, CustomStringConvertible {
  /// The operation.
  package var operation: StorageError.Operation
  /// The path of the file.
  package var path: String
  /// The bytes of the file that it writes or adds; empty for other operations.
  package var range: Range<UInt64>

  /// The operation and the path; for a write, offset and length, too.
  package var description: String {
    let name = "\(operation.rawValue) \(path)"
    return range.isEmpty ? name : "\(name) at \(range.lowerBound), \(range.count) bytes"
  }
}

/// Makes calls of one kind fail.
package struct FaultInjection: Sendable {
  /// The effect that a failing call has nevertheless.
  package enum Effect: Sendable, Hashable {
    /// Nothing.
    case none
    /// For a write, this many of its first bytes; for other operations nothing.
    case partial(Int)
    /// Everything: only the result of the call is wrong.
    case complete
    /// For a sync: the cache marks the unsynced bytes clean, so that later syncs skip them.
    case cacheLies
    /// For a sync: the cache drops the unsynced bytes and shows those on the disk.
    case cacheDrops
  }

  /// The operation that fails.
  package var operation: StorageError.Operation
  /// The number of calls of this kind that succeed first.
  package var countdown: Int
  /// The number of calls that fail after them.
  package var count: Int
  /// The error number of the failing calls.
  package var errno: Errno
  /// The effect that the failing calls have nevertheless.
  package var effect: Effect
  /// Only calls for paths with this suffix fail; empty for all paths.
  package var pathSuffix: String

  /// A failure of `count` calls of this kind after `countdown` others.
  package init(
    _ operation: StorageError.Operation, after countdown: Int = 0, _ errno: Errno,
    effect: Effect = .none, count: Int = 1, pathSuffix: String = ""
  ) {
    self.operation = operation
    self.countdown = countdown
    self.count = count
    self.errno = errno
    self.effect = effect
    self.pathSuffix = pathSuffix
  }
}
