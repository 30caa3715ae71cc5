import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// The version that readers see, replaced as commits are acknowledged; those who have read it all
/// can wait for the next.
///
/// Safe on any thread.
package final class PublishedVersion: Sendable {
  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct Content {
    var version: StoreVersion
    /// How often the version was replaced.
    var edition: UInt64 = 0
    var isLast = false
    var waiters: [UInt64: Waiter] = [:]
    var nextWaiter: UInt64 = 0

    mutating func takeWaiters() -> [Waiter] {
      guard !waiters.isEmpty else { return [] }
      defer { waiters = [:] }
      return Array(waiters.values)
    }
  }

  private let content: Locked<Content>

  package init(_ version: StoreVersion) {
    content = Locked(Content(version: version))
  }

  package var current: StoreVersion { content.withLock { $0.version } }

  /// The version with its edition, to wait for the next; and whether there will be none.
  package var edition: (version: StoreVersion, number: UInt64, isLast: Bool) {
    content.withLock { ($0.version, $0.edition, $0.isLast) }
  }

  func replace(with newer: StoreVersion) {
    // The old version may be large; it ends outside the lock, and the waiters wake outside it.
    let (old, waiters) = content.withLock { content in
      let old = content.version
      content.version = newer
      content.edition &+= 1
      return (old, content.takeWaiters())
    }
    for waiter in waiters { waiter.resume() }
    withExtendedLifetime(old) {}
  }

  /// Publishes one transaction, all of whose changes are in the batch and none of which is to the
  /// schema. `state` is the state after it.
  ///
  /// A version that nobody holds is moved on in place, which copies nothing. It shares less and
  /// less with `state` then, which the caller keeps for the next transaction to work on.
  func moveOn(by batch: ChangeBatch, to state: State, view: LogView) {
    let (old, waiters) = content.withLock { content -> (StoreVersion?, [Waiter]) in
      content.edition &+= 1
      if isHeldHereOnly(&content.version) {
        do throws(StateFault) {
          try content.version.moveOn(by: batch, like: state, view: view)
          return (nil, content.takeWaiters())
        } catch {
          // What is left of the version is not used: the next has the transaction's own state.
        }
      }
      let old = content.version
      content.version = old.successor(state: state, view: view)
      return (old, content.takeWaiters())
    }
    for waiter in waiters { waiter.resume() }
    withExtendedLifetime(old) {}
  }

  /// Says that no version will follow.
  package func end() {
    let waiters = content.withLock { content in
      content.isLast = true
      return content.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until there is another edition than this one, or will be none, or the task is cancelled.
  package func wait(beyond edition: UInt64) async {
    let number = content.withLock { content in
      content.nextWaiter &+= 1
      return content.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = content.withLock { content in
          // The flag is set before the handler below runs, and that needs the lock.
          if content.edition != edition || content.isLast || Task.isCancelled { return true }
          content.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      content.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }
}

/// Whether there is no other reference to the version: then nobody reads it any more.
///
/// What readers did before they gave theirs up is over, as the count of references says; the thread
/// sanitizer does not see the count, so for it no version is ever free.
private func isHeldHereOnly(_ version: inout StoreVersion) -> Bool {
  #if ANNALS_THREAD_SANITIZER
    false
  #else
    isKnownUniquelyReferenced(&version)
  #endif
}
