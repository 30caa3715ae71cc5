import Synchronization

/// Whether whoever asked is gone. Long work asks it now and then.
package final class Cancellation: Sendable {
  private let isSet = Atomic(false)

  package init() {}

  /// Ends the work at the next point where it asks.
  package func cancel() { isSet.store(true, ordering: .relaxed) }

  package var isCancelled: Bool { isSet.load(ordering: .relaxed) }

  /// Throws if whoever asked is gone.
  package func check() throws(RequestFault) {
    if isCancelled { throw RequestFault("the request was given up", .cancelled) }
  }
}

/// A stretch of time for work that is answered in parts.
package struct WorkTime: Sendable {
  private let end: ContinuousClock.Instant

  package init(_ duration: Duration) { end = .now + duration }

  package var isOver: Bool { ContinuousClock.now >= end }
}
