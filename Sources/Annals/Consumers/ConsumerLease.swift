import AnnalsModel
import Foundation

/// For how long a store waits for a consumer that is not seen any more.
///
/// Counts from when the consumer was last seen: it advances, or is opened.
public struct ConsumerLease: Hashable, Sendable {
  /// In microseconds; nil for ever.
  package let length: Int64?

  /// The lease never runs out.
  public static let forever = ConsumerLease(length: nil)

  /// The lease runs for so many seconds, rounded to microseconds; at most some 146,000 years.
  public static func seconds(_ seconds: TimeInterval) -> ConsumerLease {
    let most = Double(1 << 62)
    return ConsumerLease(length: Int64(min(max(0, seconds * 1_000_000), most).rounded(.down)))
  }

  /// The lease runs for so many days of 24 hours.
  public static func days(_ days: Double) -> ConsumerLease { seconds(days * 86_400) }

  /// How many seconds it runs; nil for ever.
  public var seconds: TimeInterval? { length.map { Double($0) / 1_000_000 } }

  package init(length: Int64?) {
    // No file may hold more.
    self.length = length.map { min($0, 1 << 62 - 1) }
  }
}
