import AnnalsModel
import Foundation

extension TimelineEntries {
  /// The rows in sections, in their order: by the buckets of a unit in a zone, or without a unit
  /// only ongoing rows apart from those with a date. Dates that are written as texts are grouped in
  /// UTC. O(sections × log n), and O(rows) without a unit.
  ///
  /// What stands at the time now is in the section of that time; otherwise ongoing rows have one of
  /// their own.
  package func sections(by unit: CalendarUnit?, in zone: TimeZone) -> [TimelineSection] {
    var buckets = unit.map {
      CalendarBuckets($0, timeZone: columns.hasWrittenDates ? .gmt : zone)
    }
    var result: [TimelineSection] = []
    var position = 0
    while position < count {
      let entry = rising(position)
      let isOngoing = date(entry) == nil
      var bucket: CalendarBucket?
      let end: Int
      if isOngoing, unit == nil || order.ongoing == .last {
        end = firstRow(after: position, isOngoing: true)
      } else if let found = buckets?.bucket(containing: Timestamp(microseconds: entry.date)) {
        bucket = found
        // The last bucket of all holds its end, where ongoing rows stand, too.
        let limit = found.range.upperBound.microseconds
        end = rank {
          $0.date < limit || limit == .max && (date($0) != nil || order.ongoing == .atNow)
        }
      } else {
        end = firstRow(after: position, isOngoing: false)
      }
      result.append(
        TimelineSection(
          bucket: bucket, isOngoing: isOngoing && bucket == nil, positions: position..<end))
      position = end
    }
    guard order.isDescending else { return result }
    return result.reversed().map { section in
      var section = section
      let rows = section.positions
      section.positions = count - rows.upperBound..<count - rows.lowerBound
      return section
    }
  }

  /// Where the rows end that are ongoing, or are not, as the one at the position.
  private func firstRow(after position: Int, isOngoing: Bool) -> Int {
    if order.ongoing == .last { return isOngoing ? count : rank { date($0) != nil } }
    var end = position + 1
    while end < count, (date(rising(end)) == nil) == isOngoing { end += 1 }
    return end
  }
}
