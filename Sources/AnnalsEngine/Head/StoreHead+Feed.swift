import AnnalsModel
import AnnalsStorage

// The feed: what was published, by whichever process, and waiting for the next commit.
//
// Nothing is queued. A listener holds the number up to which it knows everything, and asks for what
// follows. One that keeps up gets the changes themselves; one that is behind reads them from the
// log.

/// What a listener of the feed gets: the published version, and the changes since the number it
/// knew.
package struct Publication: Sendable {
  /// The published version: position, state, and the log up to there.
  package let version: StoreVersion
  /// The changes since the number asked for, if they are in memory; nil if they must be read from
  /// the log.
  package let batch: ChangeBatch?
}

/// A point of the feed to wait beyond.
package struct FeedPosition: Sendable {
  package let edition: UInt64
  /// The position after the newest transaction at that point.
  package let token: Token
  /// Whether nothing will follow.
  package let isLast: Bool
}

extension StoreHead {
  /// The current point of the feed. Throws the error that keeps the commits of other processes from
  /// being read.
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

  /// Waits until something is published after the position, the feed ends, or the task is
  /// cancelled. Uses no thread and no CPU meanwhile.
  package func wait(beyond position: FeedPosition) async {
    let number = content.withLock { content in
      content.nextWaiter &+= 1
      return content.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = content.withLock { content in
          // The flag is set before the handler below can run, since the handler needs the lock.
          if content.edition != position.edition || content.isLast || Task.isCancelled {
            return true
          }
          if content.waiters == nil { content.waiters = Waiters() }
          content.waiters?.continuations[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      content.withLock { $0.waiters?.continuations.removeValue(forKey: number) }?.resume()
    }
  }

  /// Wakes all waiting tasks for another reason than a commit. A task that has no use for it waits
  /// again.
  package func wake() {
    change { content in
      content.edition &+= 1
      return (nil, content.waiters.take())
    }
  }

  /// Tells all waiting tasks that the commits of other processes cannot be read.
  func fail(_ error: AnnalsError) {
    change { content in
      content.failure = error
      content.edition &+= 1
      return (nil, content.waiters.take())
    }
  }

  /// Clears the failure: the commits of other processes can be read again.
  func endFailure() {
    content.withLock { if $0.failure != nil { $0.failure = nil } }
  }

  /// Ends the feed: nothing will be published any more.
  package func end() {
    change { content in
      content.isLast = true
      return (nil, content.waiters.take())
    }
  }
}
