import AnnalsModel

/// How long a store waits for a consumer that does not come back.
///
/// Counts from when the consumer was last seen: when it advanced or was opened.
public struct ConsumerLease: Hashable, Sendable {
  /// In microseconds; nil for ever.
  package let length: Int64?

  /// A lease that never expires.
  public static let forever = ConsumerLease(length: nil)

  /// A lease of so many seconds, rounded to microseconds; at most some 146,000 years. Traps for a
  /// number that is negative or none.
  public static func seconds(_ seconds: Double) -> ConsumerLease {
    insist(seconds >= 0, "a lease cannot last \(seconds) seconds")
    let most = Double(1 << 62)
    return ConsumerLease(length: Int64(min(seconds * 1_000_000, most).rounded(.down)))
  }

  /// A lease of so many days of 24 hours.
  public static func days(_ days: Double) -> ConsumerLease { seconds(days * 86_400) }

  /// The length in seconds; nil for ever.
  public var seconds: Double? { length.map { Double($0) / 1_000_000 } }

  package init(length: Int64?) {
    // The greatest length that a file may hold.
    self.length = length.map { min($0, 1 << 62 - 1) }
  }
}
