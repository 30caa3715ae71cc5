/// How much of its history a store keeps at least. What either part keeps is kept; without any part
/// nothing is dropped but by a prune.
package struct RetentionPolicy: Hashable, Sendable {
  /// Transactions younger than so many microseconds, and all behind them; nil for no such part.
  package var age: Int64?
  /// So many of the newest transactions; nil for no such part.
  package var transactions: Int64?

  package init(age: Int64? = nil, transactions: Int64? = nil) {
    self.age = age
    self.transactions = transactions
  }

  /// Nothing is dropped but by a prune.
  package static let off = RetentionPolicy()

  package var isOff: Bool { self == .off }
}

extension RetentionPolicy: CustomStringConvertible {
  package var description: String {
    let parts = [
      age.map { "microseconds \($0)" }, transactions.map { "transactions \($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "off" : parts.joined(separator: ", ")
  }
}
