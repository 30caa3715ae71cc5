/// A unit of the calendar by which dates are grouped.
public enum CalendarUnit: String, Hashable, Sendable, CaseIterable {
  case hour
  case day
  /// From Monday to Sunday, as ISO 8601 numbers them.
  case week
  case month
  case year
}

/// One hour, day, week, month or year in a time zone.
///
/// Ordered by beginning. The buckets of one unit and zone follow one another without gap or
/// overlap.
public struct CalendarBucket: Hashable, Comparable, Sendable {
  /// From the bucket's first moment to that of the next, exclusive. The last possible bucket ends
  /// at the greatest timestamp, and includes it.
  public let range: Range<Timestamp>
  /// The name: `2019`, `2019-10`, `2019-W40`, `2019-10-06`, `2019-10-06T14:00+02:00`. Years outside
  /// 0000 to 9999 have a sign.
  public let label: String

  /// Creates a bucket from its parts.
  package init(range: Range<Timestamp>, label: String) {
    self.range = range
    self.label = label
  }

  /// Whether the moment lies in the bucket.
  @inlinable
  public func contains(_ moment: Timestamp) -> Bool {
    range.lowerBound <= moment
      && (moment < range.upperBound || range.upperBound.microseconds == .max)
  }

  /// Whether `a` begins before `b`.
  public static func < (a: CalendarBucket, b: CalendarBucket) -> Bool {
    a.range.lowerBound < b.range.lowerBound
  }
}
