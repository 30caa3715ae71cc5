/// Waits for changes of one file, by whatever process. For one thread at a time, except `cancel`.
package protocol FileWatch: AnyObject, Sendable {
  /// Waits until the file may have changed, or another file may have got its name, since the
  /// previous call (or since the watch was made); or until `deadline`. Uses no CPU meanwhile. May
  /// return without reason. Returns false once `cancel` was called.
  func wait(until deadline: ContinuousClock.Instant?) -> Bool

  /// Ends the watch: a waiting thread returns. Safe to call again, on any thread.
  func cancel()
}

/// A watch that reports a possible change every 50 ms, for systems that notify of nothing.
package final class PollingWatch: FileWatch {
  /// How long a change may stay unnoticed.
  package static let interval = Duration.milliseconds(50)

  private let isCancelled = Monitor(false)

  package init() {}

  package func wait(until deadline: ContinuousClock.Instant?) -> Bool {
    var next = ContinuousClock.now.advanced(by: PollingWatch.interval)
    if let deadline, deadline < next { next = deadline }
    return isCancelled.wait(until: next) { $0 ? false : nil } ?? true
  }

  package func cancel() { isCancelled.withLock { $0 = true } }
}

/// The watches of a file system in memory, which notifies them of every change.
package final class WatchList: Sendable {
  /// A watch that is notified.
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

  package init() {}

  /// Adds a watch that is notified of every change of every file.
  package func add() -> any FileWatch {
    let watch = Watch()
    watches.withLock { watches in
      watches.removeAll { $0.watch == nil }
      watches.append(Reference(watch: watch))
    }
    return watch
  }

  /// Notifies all watches that a file has changed.
  package func tell() {
    let told = watches.withLock { $0.isEmpty ? [] : $0.compactMap(\.watch) }
    for watch in told {
      watch.news.withLock { if $0 == .none { $0 = .changed } }
    }
  }
}
