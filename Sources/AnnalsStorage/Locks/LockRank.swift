/// The order in which one thread may take the locks of a store's writer.
///
/// A thread that holds a lock takes only those of the same or a higher rank, which debug builds
/// assert. The same rank occurs where a write to one store is made inside a write to another.
/// Values in `Locked` have no rank: nobody takes another lock inside of one.
@usableFromInline
package enum LockRank: UInt64, Sendable {
  /// The writer's own lock: held while a transaction is made, callers' closures included.
  case writer = 0
  /// The groups of commits that wait for a sync.
  case group = 16
  /// What the followers of one group wait on.
  case followers = 32
  /// The writes of tasks that wait for the writer.
  case tasks = 48
}

/// How many locks of each rank the calling thread holds, in 16 bits each. For debug builds.
enum HeldLocks {
  private static let value = ThreadValue()

  /// Notes that the thread takes a lock; returns false if it holds one of a higher rank.
  static func enter(_ rank: LockRank) -> Bool {
    let held = value.load()
    guard (held >> rank.rawValue) >> 16 == 0 else { return false }
    value.store(held + (1 << rank.rawValue))
    return true
  }

  /// Notes that the thread has released a lock; returns false if it held none.
  static func leave(_ rank: LockRank) -> Bool {
    let held = value.load()
    guard (held >> rank.rawValue) & 0xFFFF > 0 else { return false }
    value.store(held - (1 << rank.rawValue))
    return true
  }
}
