/// A moment in whole microseconds since 1970-01-01 00:00:00 UTC: exactly what `Value.date` holds.
/// Convert it with `Date(_:)`.
@frozen
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01 00:00:00 UTC; negative before it.
  @usableFromInline package var microseconds: Int64

  /// The moment this many microseconds after 1970-01-01 00:00:00 UTC.
  @inlinable
  package init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Whether `a` comes before `b`.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    a.microseconds < b.microseconds
  }
}
