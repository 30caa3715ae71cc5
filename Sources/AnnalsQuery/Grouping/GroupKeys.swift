import AnnalsModel
import AnnalsState

/// Finds the group of a value, and the key of a group.
struct GroupKeys {
  private var table = GroupTable()
  private var calendar: CalendarBuckets?
  /// The bucket of the last date, in microseconds without its end, and its group.
  private var current = (range: Range<Int64>(uncheckedBounds: (0, 0)), group: 0)
  /// The buckets of groups that are one.
  private var buckets: [Int: CalendarBucket] = [:]
  /// The texts that were read as dates, and the groups of those.
  private var texts = GroupTable()
  private var groupsOfTexts: ContiguousArray<Int> = []

  init(_ query: GroupQuery) {
    if case .bucket(_, let unit, let zone) = query.key {
      calendar = CalendarBuckets(unit, timeZone: zone)
    }
  }

  /// How many groups there are.
  var count: Int { table.count }

  /// The group of a value that is not large.
  @inline(__always)
  mutating func group(of cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Int {
    guard calendar != nil else { return table.number(of: cell, in: arena) }
    if cell.tag == .date, current.range.contains(Int64(bitPattern: cell.bits)) {
      return current.group
    }
    return dateGroup(of: cell, in: arena)
  }

  @inline(never)
  private mutating func dateGroup(of cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Int {
    switch cell.tag {
    case .date:
      let moment = Timestamp(microseconds: Int64(bitPattern: cell.bits))
      guard let bucket = calendar?.bucket(containing: moment) else { return none() }
      let start = bucket.range.lowerBound.microseconds
      let group = table.number(
        of: ValueCell(tag: .date, bits: UInt64(bitPattern: start)), in: .empty)
      buckets[group] = bucket
      current = (start..<bucket.range.upperBound.microseconds, group)
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
