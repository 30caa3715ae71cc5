import AnnalsModel
import Foundation

/// The buckets of one calendar unit in a time zone, by the proleptic Gregorian calendar.
///
/// A day begins at the first instant at which the zone's clocks show it or a later day; so a day
/// may have 23 or 25 hours, and a day that a zone left out has no bucket. Weeks, months and years
/// begin with their first day. An hour ends where clocks are set, and one that clocks show twice is
/// two buckets.
///
/// Caches buckets, so that one asked for again needs no calendar arithmetic.
package struct CalendarBuckets: Sendable {
  package let unit: CalendarUnit
  private let clock: ZoneClock
  /// The cached buckets, rising.
  private var known: [CalendarBucket] = []
  /// The index of the bucket asked for last.
  private var last = 0

  /// The most cached buckets; others are computed each time.
  private static let mostKnown = 4_096

  /// The buckets of the unit in the zone.
  package init(_ unit: CalendarUnit, timeZone: TimeZone) {
    self.init(unit, clock: ZoneClock(timeZone))
  }

  /// The buckets of the unit by a zone's clock.
  package init(_ unit: CalendarUnit, clock: ZoneClock) {
    self.unit = unit
    self.clock = clock
  }

  /// The bucket that contains the moment. O(1) if it is that of the last call, otherwise O(log n)
  /// in the cached ones.
  package mutating func bucket(containing moment: Timestamp) -> CalendarBucket {
    if last < known.count, known[last].contains(moment) { return known[last] }
    var low = known.rank { $0.range.lowerBound <= moment }
    if low > 0, known[low - 1].contains(moment) {
      last = low - 1
      return known[last]
    }
    let bucket = computed(moment)
    if known.count == CalendarBuckets.mostKnown {
      known = []
      low = 0
    }
    known.insert(bucket, at: low)
    last = low
    return bucket
  }

  /// The bucket behind this one; nil behind the last.
  package mutating func bucket(after bucket: CalendarBucket) -> CalendarBucket? {
    let end = bucket.range.upperBound
    return end == .max ? nil : self.bucket(containing: end)
  }

  private func computed(_ moment: Timestamp) -> CalendarBucket {
    let second = moment.microseconds.dividedRoundingDown(by: 1_000_000).quotient
    guard unit != .hour else { return hour(second) }
    var day = (second + clock.offset(at: second)).dividedRoundingDown(by: 86_400).quotient
    while true {
      let (first, next) = days(around: day)
      let end = clock.first(showing: next * 86_400)
      // After midnight, clocks were set back to the day before.
      if end <= second {
        day = next
        continue
      }
      return bucket(
        clock.first(showing: first * 86_400)..<end, unit.label(CalendarDate(daysSince1970: first)))
    }
  }

  private func bucket(_ seconds: Range<Int64>, _ label: String) -> CalendarBucket {
    func moment(_ second: Int64) -> Timestamp {
      let (product, overflow) = second.multipliedReportingOverflow(by: 1_000_000)
      return overflow ? (second < 0 ? .min : .max) : Timestamp(microseconds: product)
    }
    return CalendarBucket(
      range: moment(seconds.lowerBound)..<moment(seconds.upperBound), label: label)
  }

  private func hour(_ second: Int64) -> CalendarBucket {
    let offset = clock.offset(at: second)
    let shown = (second + offset).dividedRoundingDown(by: 3_600).quotient * 3_600
    let hour = shown - offset..<shown - offset + 3_600
    let (day, inDay) = shown.dividedRoundingDown(by: 86_400)
    let date = CalendarDate(daysSince1970: day)
    let minutes = abs(offset) / 60
    let label =
      "\(date.text)T\((inDay / 3_600).padded(2)):00"
      + "\(offset < 0 ? "-" : "+")\((minutes / 60).padded(2)):\((minutes % 60).padded(2))"
    return bucket(clock.unchanged(around: second, in: hour), label)
  }

  /// The first day of the bucket that contains a day, and the first of the next bucket.
  private func days(around day: Int64) -> (first: Int64, next: Int64) {
    let date = CalendarDate(daysSince1970: day)
    func days(_ year: Int64, _ month: Int64) -> Int64 {
      // The first of a month is always a date.
      CalendarDate(year: year, month: month, day: 1).daysSince1970 ?? day
    }
    switch unit {
    case .hour, .day: return (day, day + 1)
    case .week:
      let monday = CalendarBuckets.monday(day)
      return (monday, monday + 7)
    case .month:
      let isLast = date.month == 12
      return (
        days(date.year, date.month), days(date.year + (isLast ? 1 : 0), isLast ? 1 : date.month + 1)
      )
    case .year: return (days(date.year, 1), days(date.year + 1, 1))
    }
  }

  /// The Monday of the week of a day.
  static func monday(_ day: Int64) -> Int64 {
    // 1970-01-05 was one.
    (day - 4).dividedRoundingDown(by: 7).quotient * 7 + 4
  }
}

extension CalendarUnit {
  /// The name of the unit's bucket that holds a day: `2019-10-06`, `2019-W40`, `2019-10`, `2019`.
  func label(_ date: CalendarDate) -> String {
    switch self {
    case .hour, .day: return date.text
    case .month: return "\(date.year.yearText)-\(date.month.padded(2))"
    case .year: return date.year.yearText
    case .week:
      let monday = CalendarBuckets.monday(date.daysSince1970 ?? 0)
      // A week belongs to the year of its Thursday.
      let thursday = CalendarDate(daysSince1970: monday + 3)
      let newYear = CalendarDate(year: thursday.year, month: 1, day: 1).daysSince1970 ?? 0
      return "\(thursday.year.yearText)-W\(((monday + 3 - newYear) / 7 + 1).padded(2))"
    }
  }
}
