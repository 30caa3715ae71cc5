/// How much history a store keeps at least: everything that either part keeps. Without parts, only
/// an explicit prune drops history.
package struct RetentionPolicy: Hashable, Sendable {
  /// Keeps transactions younger than so many microseconds, and all later ones; nil for no such
  /// part.
  package var age: Int64?
  /// Keeps so many of the newest transactions; nil for no such part.
  package var transactions: Int64?

  package init(age: Int64? = nil, transactions: Int64? = nil) {
    self.age = age
    self.transactions = transactions
  }

  /// Only an explicit prune drops history.
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
