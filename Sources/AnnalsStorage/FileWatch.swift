/// Waits for changes of one file, by whoever makes them; for one thread at a time but for `cancel`.
package protocol FileWatch: AnyObject, Sendable {
  /// Waits until the file may have changed, or another may have its name, since the call before (or
  /// since the watch was made); or until `deadline`. Uses no CPU meanwhile. May return without
  /// reason. Returns false once `cancel` was called.
  func wait(until deadline: ContinuousClock.Instant?) -> Bool

  /// Ends the watch: whoever waits returns. Safe to call again, on any thread.
  func cancel()
}

/// A watch that knows nothing of the file, and says every 50 ms that it may have changed: where the
/// system has no better.
package final class PollingWatch: FileWatch {
  /// How long a change may stay unseen.
  package static let interval = Duration.milliseconds(50)

  private let isCancelled = Monitor(false)

  /// A watch of any file.
  package init() {}

  package func wait(until deadline: ContinuousClock.Instant?) -> Bool {
    var next = ContinuousClock.now.advanced(by: PollingWatch.interval)
    if let deadline, deadline < next { next = deadline }
    return isCancelled.wait(until: next) { $0 ? false : nil } ?? true
  }

  package func cancel() { isCancelled.withLock { $0 = true } }
}

/// The watches of the files of a file system in memory, which tells of every change.
package final class WatchList: Sendable {
  /// A watch that is told.
  private final class Watch: FileWatch {
    fileprivate enum News { case none, changed, cancelled }

    fileprivate let news = Monitor(News.none)

    func wait(until deadline: ContinuousClock.Instant?) -> Bool {
      let take = { (news: inout News) -> Bool? in
        switch news {
        case .none: return nil
        case .cancelled: return false
        case .changed:
          news = .none
          return true
        }
      }
      guard let deadline else { return news.wait(for: take) }
      return news.wait(until: deadline, for: take) ?? true
    }

    func cancel() { news.withLock { $0 = .cancelled } }
  }

  private struct Reference { weak var watch: Watch? }

  private let watches = Locked<[Reference]>([])

  /// No watches yet.
  package init() {}

  /// A watch that is told of every change of every file.
  package func add() -> any FileWatch {
    let watch = Watch()
    watches.withLock { watches in
      watches.removeAll { $0.watch == nil }
      watches.append(Reference(watch: watch))
    }
    return watch
  }

  /// Tells all watches that a file has changed.
  package func tell() {
    let told = watches.withLock { $0.isEmpty ? [] : $0.compactMap(\.watch) }
    for watch in told {
      watch.news.withLock { if $0 == .none { $0 = .changed } }
    }
  }
}
