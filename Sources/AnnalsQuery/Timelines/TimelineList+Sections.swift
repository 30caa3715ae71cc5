import AnnalsModel
import AnnalsState
import Foundation

extension TimelineList {
  /// The rows in sections, as those of `TimelineEntries`. O(sections × log n), and O(rows) without
  /// a unit where ongoing rows stand at the time now.
  package func sections(
    by unit: CalendarUnit?, in zone: TimeZone
  ) throws(ConditionFault) -> [TimelineSection] {
    let isWritten = reading?.hasWrittenDates ?? false
    var buckets = unit.map { CalendarBuckets($0, timeZone: isWritten ? .gmt : zone) }
    var result: [TimelineSection] = []
    var position = 0
    while position < count {
      let entry = list[position]
      let isOngoing = TimelineList.role(entry) == .ongoing
      var bucket: CalendarBucket?
      var end = position + 1
      if !isOngoing || order.ongoing == .atNow {
        bucket = buckets?.bucket(
          containing: Timestamp(microseconds: TimelineList.date(entry.word)))
      }
      if let bucket {
        end = try list.rank { isUpTo(bucket, $0) }
      } else if order.ongoing == .last {
        let isDescending = order.isDescending
        end =
          isOngoing == isDescending
          ? try list.rank { (TimelineList.role($0) == .ongoing) == isDescending } : count
      } else {
        while end < count, (TimelineList.role(list[end]) == .ongoing) == isOngoing { end += 1 }
      }
      result.append(
        TimelineSection(
          bucket: bucket, isOngoing: isOngoing && bucket == nil, positions: position..<end))
      position = end
    }
    return result
  }

  /// Whether an entry stands in the bucket or before it, in the order of the list.
  private func isUpTo(_ bucket: CalendarBucket, _ entry: ListEntry) -> Bool {
    let isApart = order.ongoing == .last && TimelineList.role(entry) == .ongoing
    if order.isDescending {
      return isApart || TimelineList.date(entry.word) >= bucket.range.lowerBound.microseconds
    }
    // The last bucket of all holds its end.
    let end = bucket.range.upperBound.microseconds
    return !isApart && (TimelineList.date(entry.word) < end || end == .max)
  }
}
