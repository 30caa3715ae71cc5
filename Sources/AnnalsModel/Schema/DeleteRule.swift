/// What happens to an object when an object that it refers to is deleted.
///
/// A rule stands on the relationship, as that of a foreign key does: that of `event.timeline` says
/// what becomes of an event whose timeline is deleted.
public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  /// The reference stays, and leads to no object.
  case keep
  /// The reference is cleared; in a to-many relationship it is removed from the list.
  case nullify
  /// The object that refers to it is deleted, too, and what its own deletion entails happens.
  case cascade
  /// The transaction is refused if an object refers to it after all other rules have been applied.
  case deny

  /// The rules in the order of the numbers that stand for them in a file, from 1. Never reorder.
  /// FORMAT.md, "Delete rules and inverses".
  package static let codes: [DeleteRule] = [.nullify, .cascade, .deny, .keep]
}

/// How a relationship that had no delete rule gets one.
public struct DeleteRuleOptions: OptionSet, Hashable, Sendable {
  /// The options as bits.
  public let rawValue: Int

  /// The options with these bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Clears the references to objects that were deleted before there was a rule. Without it, they
  /// are listed in an error, and the store keeps what it has.
  public static let nullifyDangling = DeleteRuleOptions(rawValue: 1)
}
