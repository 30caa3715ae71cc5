import AnnalsModel
import AnnalsState

/// Assigns values to groups, and returns the key of a group.
struct GroupKeys {
  private var table = GroupTable()
  private var calendar: CalendarBuckets?
  /// The same unit for days, which have no zone.
  private var dayCalendar: CalendarBuckets?
  /// The start of each known bucket, rising, in microseconds.
  private var starts: ContiguousArray<Int64> = []
  private var lasts: ContiguousArray<Int64> = []
  private var groups: ContiguousArray<Int> = []
  /// The index of the last date's bucket.
  private var current = -1
  /// The buckets of groups.
  private var buckets: [Int: CalendarBucket] = [:]
  /// The texts read as dates, and their groups.
  private var texts = GroupTable()
  private var groupsOfTexts: ContiguousArray<Int> = []

  /// The most known buckets; others are looked up each time.
  private static let mostKnown = 4_096

  init(_ query: GroupQuery) {
    if case .bucket(_, let unit, let clock) = query.key {
      calendar = CalendarBuckets(unit, clock: clock)
      dayCalendar = CalendarBuckets(unit == .hour ? .day : unit, clock: ZoneClock { _ in 0 })
    }
  }

  /// How many groups there are.
  var count: Int { table.count }

  /// The group of a value that is not large.
  @inline(__always)
  mutating func group(of cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Int {
    guard calendar != nil else { return table.number(of: cell, in: arena) }
    guard cell.tag == .date else { return otherGroup(of: cell, in: arena) }
    let moment = Int64(bitPattern: cell.bits)
    if current >= 0, starts[current] <= moment, moment <= lasts[current] { return groups[current] }
    let low = starts.rank { $0 <= moment }
    if low > 0, moment <= lasts[low - 1] {
      current = low - 1
      return groups[current]
    }
    return newGroup(of: moment, at: low)
  }

  @inline(never)
  private mutating func newGroup(of moment: Int64, at place: Int) -> Int {
    guard let bucket = calendar?.bucket(containing: Timestamp(microseconds: moment)) else {
      return none()
    }
    let start = bucket.range.lowerBound.microseconds
    let end = bucket.range.upperBound
    let group = table.number(
      of: ValueCell(tag: .date, bits: UInt64(bitPattern: start)), in: .empty)
    buckets[group] = bucket
    var place = place
    if starts.count == GroupKeys.mostKnown {
      (starts, lasts, groups) = ([], [], [])
      place = 0
    }
    starts.insert(start, at: place)
    lasts.insert(end == .max ? .max : end.microseconds - 1, at: place)
    groups.insert(group, at: place)
    current = place
    return group
  }

  /// The group of a value that is not a date: a day, a text that may be one, or none.
  @inline(never)
  private mutating func otherGroup(of cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Int {
    switch cell.tag {
    case .day:
      let moment = CalendarDay(nearestTo: Int64(bitPattern: cell.bits)).startInUTC
      guard let bucket = dayCalendar?.bucket(containing: moment) else { return none() }
      let first = bucket.range.lowerBound.microseconds / 86_400_000_000
      let group = table.number(
        of: ValueCell(tag: .day, bits: UInt64(bitPattern: first)), in: .empty)
      buckets[group] = bucket
      return group
    case .string:
      let text = texts.number(of: cell, in: arena)
      if text == groupsOfTexts.count {
        groupsOfTexts.append(writtenGroup(String(decoding: cell.bytes(in: arena), as: UTF8.self)))
      }
      return groupsOfTexts[text]
    default: return none()
    }
  }

  private mutating func writtenGroup(_ text: String) -> Int {
    guard let unit = calendar?.unit, let date = WrittenDate(text) else { return none() }
    var bytes: ContiguousArray<UInt8> = []
    let cell = ValueCell(.string(date.label(unit)), appendingTo: &bytes)
    return bytes.withUnsafeBufferPointer {
      table.number(of: cell, in: UnsafeRawBufferPointer($0))
    }
  }

  private mutating func none() -> Int { table.number(of: .null, in: .empty) }

  /// The bucket of a group of dates.
  func bucket(_ group: Int) -> CalendarBucket? { buckets[group] }

  /// The key of a group, to be put in order.
  func cell(_ group: Int) -> OwnedCell { table.cell(group) }

  /// The key of a group.
  func key(_ group: Int) -> GroupedRows.Key {
    buckets[group].map { .bucket($0) } ?? .value(table.cell(group).value)
  }
}
