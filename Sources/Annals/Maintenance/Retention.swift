import AnnalsModel
import Foundation

/// How much of its history a store keeps at least; a property of the store, off unless it is set.
///
/// What either part keeps is kept, and everything behind it. Nothing is dropped but by
/// `Store.maintain()`.
public struct Retention: Hashable, Sendable {
  package let policy: RetentionPolicy

  package init(policy: RetentionPolicy) { self.policy = policy }

  /// All history is kept.
  public static let off = Retention(policy: .off)

  /// Keeps transactions that are younger than so many days of 24 hours, and so many of the newest.
  /// With neither all history is kept.
  public init(days: Double? = nil, transactions: Int? = nil) {
    policy = RetentionPolicy(
      age: days.map { days in
        // No file may hold more; what is none is refused where it is set.
        let microseconds = days * 86_400_000_000
        return microseconds > 0 ? Int64(min(microseconds, Double(1 << 61)).rounded(.up)) : 0
      }, transactions: transactions.map { Int64(min(max($0, 0), 1 << 61)) })
  }

  /// For how many days transactions are kept; nil if their age does not count.
  public var days: Double? { policy.age.map { Double($0) / 86_400_000_000 } }

  /// How many of the newest transactions are kept; nil if their number does not count.
  public var transactions: Int64? { policy.transactions }

  /// Whether all history is kept.
  public var isOff: Bool { policy.isOff }
}

extension Retention: CustomStringConvertible {
  /// What is kept, as in `30 days and 1000 transactions, whichever is more`.
  public var description: String {
    var parts: [String] = []
    if let days {
      let text = days.rounded() == days && days < 1e15 ? "\(Int64(days))" : "\(days)"
      parts.append(days == 1 ? "1 day" : "\(text) days")
    }
    if let transactions {
      parts.append(transactions == 1 ? "1 transaction" : "\(transactions) transactions")
    }
    if parts.isEmpty { return "everything" }
    return parts.joined(separator: " and ") + (parts.count > 1 ? ", whichever is more" : "")
  }
}
