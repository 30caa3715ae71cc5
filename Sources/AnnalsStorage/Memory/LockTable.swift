/// The locks on one file, with the semantics of `flock`: held by open files, not by processes.
///
/// For file systems other than the operating system's.
package final class LockTable: Sendable {
  private struct Holders {
    var exclusive: UInt64?
    var shared: Set<UInt64> = []

    mutating func release(_ open: UInt64) {
      if exclusive == open { exclusive = nil }
      shared.remove(open)
    }

    mutating func acquire(_ kind: LockKind, for open: UInt64) -> Bool {
      switch kind {
      case .shared:
        guard exclusive == nil else { return false }
        shared.insert(open)
      case .exclusive:
        guard exclusive == nil, shared.isEmpty else { return false }
        exclusive = open
      }
      return true
    }

    func holds(_ kind: LockKind, for open: UInt64) -> Bool {
      kind == .exclusive ? exclusive == open : shared.contains(open)
    }
  }

  private let holders = Monitor(Holders())
  /// How often to ask whether the wait is interrupted.
  private static let slice = Duration.milliseconds(1)

  package init() {}

  /// Takes the lock for an open file, in place of the one it holds. Returns whether it was free in
  /// time.
  package func lock(_ kind: LockKind, for open: UInt64, wait: LockWait) -> Bool {
    let isHeld = holders.withLock { holders in
      if holders.holds(kind, for: open) { return true }
      // As in the kernel, the old kind is released first, whether or not the new one can be taken.
      holders.release(open)
      return false
    }
    if isHeld { return true }
    let attempt: (inout Holders) -> Bool? = { $0.acquire(kind, for: open) ? true : nil }
    switch wait {
    case .none: return holders.withLock { $0.acquire(kind, for: open) }
    case .until(let deadline): return holders.wait(until: deadline, for: attempt) ?? false
    case .unlessInterrupted(let deadline, _):
      while !wait.isInterrupted, ContinuousClock.now < deadline {
        let slice = min(deadline, .now.advanced(by: LockTable.slice))
        if let result = holders.wait(until: slice, for: attempt) { return result }
      }
      return holders.withLock { $0.acquire(kind, for: open) }
    }
  }

  /// Releases the lock of an open file, if it holds one.
  package func unlock(_ open: UInt64) {
    holders.withLock { $0.release(open) }
  }
}
