import AnnalsModel
import AnnalsQuery
import Foundation

// Days and moments.

extension CalendarDay {
  /// The day that the calendar of a time zone shows at a moment; nil for a date that is out of
  /// range or not a number.
  public init?(_ date: Date, in timeZone: TimeZone) {
    guard let moment = Timestamp(exactly: date) else { return nil }
    let second = moment.microseconds.dividedRoundingDown(by: 1_000_000).quotient
    let offset = Int64(timeZone.secondsFromGMT(for: Date(moment)))
    self.init(daysSince1970: (second + offset).dividedRoundingDown(by: 86_400).quotient)
  }

  /// The first moment of the day in a time zone: midnight, or, where clocks are set forward at
  /// midnight, the moment of that change.
  public func start(in timeZone: TimeZone) -> Date {
    var buckets = CalendarBuckets(.day, timeZone: timeZone)
    let noon = Timestamp(microseconds: startInUTC.microseconds + 43_200_000_000)
    let shown = Timestamp(local: noon) { timeZone.secondsFromGMT(for: Date($0)) }
    return Date(buckets.bucket(containing: shown ?? noon).range.lowerBound)
  }
}
