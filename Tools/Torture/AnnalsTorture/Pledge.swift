/// What a store has promised to a run of a workload so far, and what is under way.
package struct Pledge: Sendable {
  /// The last transaction whose commit returned; nil before the store exists.
  package var acknowledged: Int64?
  /// The last one that must survive a power cut: in `.deferred`, the last before a sync.
  package var durable: Int64?
  /// The last one that was begun.
  package var attempted: Int64 = 0
  /// The number before the oldest transaction kept.
  package var base: Int64 = 0
  /// The base that a prune under way would set.
  package var attemptedBase: Int64?
  /// The number of erasures that returned.
  package var erasures = 0
  /// The transaction of an erasure under way. It may exist although the call failed.
  package var erasing: Int64?
  /// Stores made from this one, by path.
  package var copies: [String: Copy] = [:]
  /// The consumers and the retention.
  package var consumers = ConsumerPledge()

  /// A store made from this one.
  package struct Copy: Sendable, Hashable {
    /// Its newest transaction.
    package var number: Int64
    /// Whether its base is that transaction.
    package var isFlat: Bool
    /// Whether the call that makes it returned.
    package var isAcknowledged = false
    /// Whether the call failed and said that nothing is left of it.
    package var isWithdrawn = false
    /// Whether the call reported that not everything could be read.
    package var isPartial = false
  }

  /// No promise yet.
  package init() {}

  /// The transactions that may be the head after a power cut, or after a kill; nil if there may be
  /// no store.
  func heads(afterPowerCut: Bool) -> ClosedRange<Int64>? {
    guard let least = afterPowerCut ? durable : acknowledged else { return nil }
    return least...max(least, attempted)
  }

  /// The bases that the file may have.
  var bases: Set<Int64> { Set([base, attemptedBase ?? base]) }

  /// Notes that an error was reported, so that what was under way must not have happened.
  mutating func withdraw() {
    attempted = max(acknowledged ?? 0, erasing ?? 0)
    attemptedBase = nil
    for path in copies.keys where copies[path]?.isAcknowledged == false {
      copies[path]?.isWithdrawn = true
    }
  }
}
