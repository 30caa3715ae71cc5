import AnnalsModel
import AnnalsStorage

// The feed: what was published, whoever committed it, and waiting for the next.
//
// Nothing is queued for anybody. A listener holds the number up to which it knows everything, and
// asks for what came behind: one that keeps up is given the changes themselves, one that is behind
// reads them from the log.

/// What a listener of the feed is given: a version, and what lies between what it knew and that.
package struct Publication: Sendable {
  /// What is published now: position, state, and the log up to there.
  package let version: StoreVersion
  /// The changes behind the number asked for, if they are at hand; nil if they are to be read from
  /// the log.
  package let batch: ChangeBatch?
}

/// A moment of the feed, to wait beyond.
package struct FeedPosition: Sendable {
  package let edition: UInt64
  /// The position after the newest transaction then.
  package let token: Token
  /// Whether nothing will follow.
  package let isLast: Bool
}

extension StoreHead {
  /// Where the feed stands. Throws what keeps the commits of other processes from being read.
  package func feedPosition() throws(AnnalsError) -> FeedPosition {
    let (position, failure) = content.withLock { content in
      (
        FeedPosition(
          edition: content.edition, token: content.published.token, isLast: content.isLast),
        content.failure
      )
    }
    if let failure { throw failure }
    return position
  }

  /// What is published now, for a listener that knows everything up to this number.
  package func publication(after number: Int64) -> Publication {
    content.withLock { content in
      Publication(
        version: content.published,
        batch: content.changes.after == number ? content.changes.batch : nil)
    }
  }

  /// Waits until something is published behind the position, or nothing will be any more, or the
  /// task is cancelled. Uses no thread and no CPU meanwhile.
  package func wait(beyond position: FeedPosition) async {
    let number = content.withLock { content in
      content.nextWaiter &+= 1
      return content.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = content.withLock { content in
          // The flag is set before the handler below runs, and that needs the lock.
          if content.edition != position.edition || content.isLast || Task.isCancelled {
            return true
          }
          content.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      content.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }

  /// Wakes those who wait, for another reason than a commit: who does not know it waits again.
  package func wake() {
    let waiters = content.withLock { content in
      content.edition &+= 1
      return content.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Tells those who wait that the commits of other processes cannot be read.
  func fail(_ error: AnnalsError) {
    let waiters = content.withLock { content in
      content.failure = error
      content.edition &+= 1
      return content.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Says that the commits of other processes can be read again.
  func endFailure() {
    content.withLock { if $0.failure != nil { $0.failure = nil } }
  }

  /// Says that nothing will be published any more.
  package func end() {
    let waiters = content.withLock { content in
      content.isLast = true
      return content.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }
}
