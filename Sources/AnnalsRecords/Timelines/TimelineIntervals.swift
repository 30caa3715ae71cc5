import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import Foundation

/// The objects of a timeline as intervals, for questions about what happened when.
///
/// Intervals include their start and exclude their end. A single date, and a range that ends where
/// it starts, last one microsecond. Days begin and end in UTC, and the last one is included.
/// Ongoing objects last for ever, but count until now; one that starts later counts as a moment.
/// Ranges that end before their start are left out.
public struct TimelineIntervals: Sendable {
  package let index: IntervalIndex
  private let columns: TimelineColumns
  private let clock: TimelineClock
  private let store: RawUUID

  init(
    _ index: IntervalIndex, _ columns: TimelineColumns, _ clock: TimelineClock, store: RawUUID
  ) {
    self.index = index
    self.columns = columns
    self.clock = clock
    self.store = store
  }

  /// The number of intervals.
  public var count: Int { index.count }

  /// The objects that overlap the window, by start. O(log n + answer).
  public func overlapping(_ window: Range<Date>) -> [TimelineSpan] {
    index.overlapping(moments(window)).map(span)
  }

  /// How many objects overlap the window. O(log n).
  public func count(overlapping window: Range<Date>) -> Int {
    index.count(overlapping: moments(window))
  }

  /// The objects under way at the moment, by start; none for a date that is not a number. O(log n +
  /// answer).
  public func underWay(at moment: Date) -> [TimelineSpan] {
    if moment.timeIntervalSinceReferenceDate.isNaN { return [] }
    return index.underWay(at: Timestamp(moment)).map(span)
  }

  /// The times between the first start and the last end when nothing was under way; with a group,
  /// nothing of it. O(answer).
  public func gaps(inGroup group: Value? = nil) -> [Range<Date>] {
    guard let number = number(of: group) else { return [] }
    return index.gaps(inGroup: number).map { Date($0.lowerBound)..<Date($0.upperBound) }
  }

  /// Each pair of objects that overlap, by start; with a group, pairs within it.
  ///
  /// There may be many: n objects that all overlap make n(n - 1)/2 pairs. O(answer).
  public func overlaps(inGroup group: Value? = nil, limit: Int = .max) -> [Overlap] {
    guard let number = number(of: group) else { return [] }
    var result: [Overlap] = []
    guard limit > 0 else { return result }
    index.forEachOverlap(inGroup: number) { first, second, range in
      result.append(
        Overlap(
          first: span(first), second: span(second), start: Date(range.lowerBound),
          end: range.upperBound == .max ? nil : Date(range.upperBound)))
      return result.count < limit
    }
    return result
  }

  /// Two objects that are under way at once.
  public struct Overlap: Sendable {
    /// The object that began first.
    public let first: TimelineSpan
    /// The other one.
    public let second: TimelineSpan
    /// When both are under way first.
    public let start: Date
    /// When one of them ends; nil if both are ongoing.
    public let end: Date?
  }

  /// How many objects there are in each hour, day, week, month or year of the timeline's zone that
  /// touches the window. An object counts in each unit for the part of its length that lies in it.
  ///
  /// From 12:57 to 13:02 counts 0.6 and 0.4 by hours. O(log n) per unit. Throws `.invalidArgument`
  /// for more than 100,000 units.
  public func counts(
    by unit: CalendarUnit, in window: Range<Date>
  ) throws(AnnalsError) -> [(bucket: CalendarBucket, count: Double)] {
    let window = moments(window)
    guard !window.isEmpty else { return [] }
    var calendar = CalendarBuckets(unit, timeZone: columns.hasWrittenDates ? .gmt : clock.zone)
    var buckets: [CalendarBucket] = []
    var next: CalendarBucket? = calendar.bucket(containing: window.lowerBound)
    while let bucket = next, bucket.range.lowerBound < window.upperBound {
      guard buckets.count < TimelineIntervals.mostBuckets else {
        throw AnnalsError(
          .invalidArgument,
          "there are more than \(TimelineIntervals.mostBuckets) buckets by \(unit) in this time; "
            + "ask for less time, or for a greater unit")
      }
      buckets.append(bucket)
      next = calendar.bucket(after: bucket)
    }
    let bounds = buckets.map(\.range.lowerBound) + buckets.suffix(1).map(\.range.upperBound)
    return Array(zip(buckets, index.weights(between: bounds)))
  }

  private static let mostBuckets = 100_000

  private func moments(_ window: Range<Date>) -> Range<Timestamp> {
    Timestamp(window.lowerBound)..<Timestamp(window.upperBound)
  }

  /// The number of a group, nil for none, in a second optional that is nil for one there is not.
  private func number(of group: Value?) -> Int?? {
    guard let group else { return .some(nil) }
    return columns.groups.firstIndex { $0 == group }.map { .some($0) }
  }

  private func span(_ index: Int) -> TimelineSpan {
    TimelineSpan(columns, index, clock, store: store)
  }
}
