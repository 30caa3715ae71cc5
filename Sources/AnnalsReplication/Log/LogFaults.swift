/// The faults of an `InMemorySharedLog`: how often each happens, from 0 for never to 1 for always.
///
/// The same seed and the same calls in the same order give the same faults.
public struct LogFaults: Sendable {
  /// The seed of the dice.
  public var seed: UInt64
  /// A call is not done, and says so.
  public var unavailable = 0.0
  /// A record is not appended, and the caller does not learn whether it was.
  public var lostRequest = 0.0
  /// A record is appended, and the caller does not learn whether it was.
  public var lostAcknowledgement = 0.0
  /// A record is appended only by the next call of anybody, if it still follows on the last one,
  /// and the caller does not learn whether it was.
  public var lateArrival = 0.0
  /// A page has one of its records twice.
  public var duplicate = 0.0
  /// A page has its records out of order.
  public var reordering = 0.0
  /// A list of objects is as it was when the last record was appended. Not among `all`.
  public var staleListing = 0.0
  /// A call takes a while, in which others go on.
  public var delay = 0.0

  /// No faults; set what is wanted.
  public init(seed: UInt64 = 1) { self.seed = seed }

  /// Every fault but stale listings, each with this probability.
  public static func all(_ probability: Double, seed: UInt64) -> LogFaults {
    var faults = LogFaults(seed: seed)
    faults.unavailable = probability
    faults.lostRequest = probability
    faults.lostAcknowledgement = probability
    faults.lateArrival = probability
    faults.duplicate = probability
    faults.reordering = probability
    faults.delay = probability
    return faults
  }
}
