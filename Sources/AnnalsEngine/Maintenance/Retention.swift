import AnnalsModel

/// How much history a store keeps at least; a property of the store, off unless set.
///
/// Keeps every transaction that either part keeps, and all later ones. Only `Store.maintain()`
/// drops history.
public struct Retention: Hashable, Sendable {
  package let policy: RetentionPolicy

  package init(policy: RetentionPolicy) { self.policy = policy }

  /// Keeps all history.
  public static let off = Retention(policy: .off)

  /// Keeps transactions younger than so many days of 24 hours, and so many of the newest. Keeps all
  /// history if both are nil.
  public init(days: Double? = nil, transactions: Int? = nil) {
    policy = RetentionPolicy(
      age: days.map { days in
        // The greatest values that a file may hold; values that make no sense are refused when the
        // retention is set.
        let microseconds = days * 86_400_000_000
        return microseconds > 0 ? Int64(min(microseconds, Double(1 << 61)).rounded(.up)) : 0
      }, transactions: transactions.map { Int64(min(max($0, 0), 1 << 61)) })
  }

  /// For how many days transactions are kept; nil for no limit by age.
  public var days: Double? { policy.age.map { Double($0) / 86_400_000_000 } }

  /// How many of the newest transactions are kept; nil for no limit by number.
  public var transactions: Int64? { policy.transactions }

  /// Whether all history is kept.
  public var isOff: Bool { policy.isOff }
}

extension Retention: CustomStringConvertible {
  /// What is kept, for example `30 days and 1000 transactions, whichever is more`.
  public var description: String {
    var parts: [String] = []
    if let days {
      // Three digits behind the point are a minute and a half.
      let rounded = days < 0.001 ? days : (days * 1e3).rounded() / 1e3
      let text = rounded.rounded() == rounded && rounded < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
      parts.append(rounded == 1 ? "1 day" : "\(text) days")
    }
    if let transactions {
      parts.append(transactions == 1 ? "1 transaction" : "\(transactions) transactions")
    }
    if parts.isEmpty { return "everything" }
    return parts.joined(separator: " and ") + (parts.count > 1 ? ", whichever is more" : "")
  }
}
