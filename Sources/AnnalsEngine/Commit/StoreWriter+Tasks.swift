import AnnalsLog
import AnnalsStorage
import Synchronization

// Writes of tasks (`TaskWrites`): on their own threads, and in batches.

/// What came of a write that waits for nobody.
enum FreeWrite {
  /// Somebody else writes: the closure has not run.
  case busy
  /// The commit is acknowledged, or there was nothing to commit.
  case acknowledged
  /// The commit is appended. Its sync takes long, and is left to the caller.
  case appended(GroupCommit.Membership)
}

/// What a closure returns on another thread; read once that has said so.
private final class ClosureValue<Value>: @unchecked Sendable {
  @exclusivity(unchecked) var value: Value?
}

extension StoreWriter {
  /// A sync is quick that takes as long as a few changes of thread, in nanoseconds.
  private static let quickSync: Int64 = 250_000
  /// The most bytes that a quick sync is asked for.
  private static let quickBytes: UInt64 = 256 << 10

  /// Runs a commit of a task: `body` appends it. Waits until it is acknowledged.
  package func commitOfTask<Value: Sendable>(
    _ body: @escaping @Sendable (StoreWriter) throws -> Value
  ) async throws -> Value {
    let result = ClosureValue<Value>()
    try await taskWrites.run(with: self) { result.value = try body($0) }
    guard let value = result.value else { preconditionFailure("a write ended without its closure") }
    return value
  }

  /// Whether a thread of Swift's pool may wait for a sync, by those before it.
  var syncsQuickly: Bool {
    options.durability == .deferred
      || usualSync.load(ordering: .relaxed) <= StoreWriter.quickSync
  }

  /// Syncs the log for a group; notes how long that took if tasks write.
  func syncGroup() throws(AnnalsError) {
    guard timesSyncs.load(ordering: .relaxed) else {
      _ = try sync()
      return
    }
    let start = monotonicNanoseconds()
    _ = try sync()
    noteSync(monotonicNanoseconds() - start)
  }

  /// Notes how many nanoseconds a sync took. One that took long is forgotten by an eighth with each
  /// that follows: 2 ms after sixteen.
  func noteSync(_ length: Int64) {
    let before = usualSync.load(ordering: .relaxed)
    let faded = before == .max ? 0 : before - before / 8
    usualSync.store(max(length, faded), ordering: .relaxed)
  }

  /// As `write`, but waits for no other thread or process, and for no long sync.
  func writeIfFree(_ body: (StoreWriter) throws -> Void) throws -> FreeWrite {
    guard try enterIfFree() else { return .busy }
    let before = log.bytesSinceCheckpoint
    let result = Result { try body(self) }
    let isLong = log.bytesSinceCheckpoint > before + StoreWriter.quickBytes
    let joined = joined.take()
    leave()
    if let joined, isLong, case .success = result { return .appended(joined) }
    try end(result, joined)
    return .acknowledged
  }

  /// As `enter`, for whoever has a commit that waits for its sync, with `joined` as it left it.
  /// Does not wait for that sync: returns false if it must come first.
  func enter(after membership: GroupCommit.Membership?) throws(AnnalsError) -> Bool {
    guard let membership else {
      try enter()
      return true
    }
    let thread = try requireOutside()
    lock.lock()
    guard admitsMembers else {
      lock.unlock()
      return false
    }
    writingThread.store(thread)
    joined = membership
    return true
  }

  /// As `enter` and `lockAndCatchUp`, if nobody must be waited for, and no other process has
  /// written since; else returns false.
  private func enterIfFree() throws -> Bool {
    let thread = try requireOutside()
    guard lock.tryLock() else { return false }
    guard isFree else {
      lock.unlock()
      return false
    }
    writingThread.store(thread)
    do {
      if try lockAndCatchUp(LockWait.none, onlyIfCurrent: true) { return true }
      leave()
      return false
    } catch {
      leave()
      if (error as? AnnalsError)?.code == .busy { return false }
      throw error
    }
  }

  /// Whether the holder of `lock` waits for no other thread, and has no state to read anew.
  private var isFree: Bool {
    guard waitingAlone.load(ordering: .relaxed) == 0, yieldsUntil == nil, group.isIdle else {
      return false
    }
    return !isStale && (!isFileLocked || admitsMembers)
  }
}
