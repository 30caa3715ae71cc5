/// What a run of a workload has been promised so far, and what it was about to be.
package struct Pledge: Sendable {
  /// The last transaction whose commit returned; nil before the store itself was made.
  package var acknowledged: Int64?
  /// The last one that a power cut may not take: in `.deferred`, the last before a sync.
  package var durable: Int64?
  /// The last one that was begun.
  package var attempted: Int64 = 0
  /// The number before the oldest transaction kept.
  package var base: Int64 = 0
  /// What a prune under way would make of the base.
  package var attemptedBase: Int64?
  /// How many erasures have returned.
  package var erasures = 0
  /// The transaction of an erasure under way: it may be there though the call failed.
  package var erasing: Int64?
  /// Stores that are written beside, by path.
  package var copies: [String: Copy] = [:]
  /// Readers of the history.
  package var consumers = ConsumerPledge()

  /// A store made from the one at work.
  package struct Copy: Sendable, Hashable {
    /// Its newest transaction.
    package var number: Int64
    /// Whether its base is that transaction.
    package var isFlat: Bool
    /// Whether the call that makes it has returned.
    package var isAcknowledged = false
    /// Whether the call said that nothing is left of it.
    package var isWithdrawn = false
    /// Whether the call said that not everything could be read.
    package var isPartial = false
  }

  /// Nothing yet.
  package init() {}

  /// The transactions that may be the head after a power cut, or after the process was killed; nil
  /// if there may be no store.
  func heads(afterPowerCut: Bool) -> ClosedRange<Int64>? {
    guard let least = afterPowerCut ? durable : acknowledged else { return nil }
    return least...max(least, attempted)
  }

  /// The bases that the file may have.
  var bases: Set<Int64> { Set([base, attemptedBase ?? base]) }

  /// Notes that what was under way when an error was reported was not done.
  mutating func withdraw() {
    attempted = max(acknowledged ?? 0, erasing ?? 0)
    attemptedBase = nil
    for path in copies.keys where copies[path]?.isAcknowledged == false {
      copies[path]?.isWithdrawn = true
    }
  }
}
