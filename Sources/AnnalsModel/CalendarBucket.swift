/// A span of the calendar by which dates are grouped.
public enum CalendarUnit: String, Hashable, Sendable, CaseIterable {
  case hour
  case day
  /// From Monday to Sunday, as ISO 8601 numbers them.
  case week
  case month
  case year
}

/// One hour, day, week, month or year of a time zone.
///
/// Buckets are ordered by their beginnings, and those of one unit and zone follow one another
/// without gap or overlap.
public struct CalendarBucket: Hashable, Comparable, Sendable {
  /// From the first instant to that of the next bucket, which does not belong to it. The last
  /// bucket that there is ends with the greatest timestamp, and holds it.
  public let range: Range<Timestamp>
  /// `2019`, `2019-10`, `2019-W40`, `2019-10-06`, `2019-10-06T14:00+02:00`; years beyond 0000 to
  /// 9999 have a sign.
  public let label: String

  /// The bucket of this range and name.
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
