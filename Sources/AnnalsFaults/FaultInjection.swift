import AnnalsStorage
import SystemPackage

/// A call to a `FaultyFileSystem` that changes something, and at which the power may fail.
package struct FaultPoint: Sendable, CustomStringConvertible {
  /// What was asked for.
  package var operation: StorageError.Operation
  /// The file it was asked for.
  package var path: String
  /// The bytes of the file that it writes or adds; empty for others.
  package var range: Range<UInt64>

  /// The operation, the file, and offset and length if it writes.
  package var description: String {
    let name = "\(operation.rawValue) \(path)"
    return range.isEmpty ? name : "\(name) at \(range.lowerBound), \(range.count) bytes"
  }
}

/// A request that a call fails.
package struct FaultInjection: Sendable {
  /// What a failing call has done all the same.
  package enum Effect: Sendable, Hashable {
    /// Nothing.
    case none
    /// For a write, its first bytes, so many; for any other nothing.
    case partial(Int)
    /// Everything: only the answer is wrong.
    case complete
    /// For a sync: the cache calls the unsynced bytes clean, and later syncs leave them out.
    case cacheLies
    /// For a sync: the cache drops the unsynced bytes, and shows those on the disk.
    case cacheDrops
  }

  /// What fails.
  package var operation: StorageError.Operation
  /// How many calls of this kind succeed first.
  package var countdown: Int
  /// How many calls fail then.
  package var count: Int
  /// The error number.
  package var errno: Errno
  /// What the failing call does all the same.
  package var effect: Effect
  /// Only calls for paths that end so; all if empty.
  package var pathSuffix: String

  /// A failure of the call of this kind after `countdown` others.
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
