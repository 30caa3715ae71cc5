import AnnalsModel
import Foundation

// A bucket of the calendar in Foundation's dates.

extension CalendarBucket {
  /// From the bucket's first moment to that of the next, exclusive.
  public var dates: Range<Date> { Date(range.lowerBound)..<Date(range.upperBound) }

  /// Whether the date, rounded to a microsecond, lies in the bucket.
  public func contains(_ date: Date) -> Bool {
    Timestamp(exactly: date).map { contains($0) } ?? false
  }
}
