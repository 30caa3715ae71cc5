import AnnalsModel
import AnnalsState
import Foundation

/// The rows of a timeline as a list that advances with the state.
///
/// A value of sixteen bytes per row; what else a row shows is read from the state on demand. A step
/// costs O(log n) for each changed object; O(n log n) if an object of another entity changed on
/// which a date, a kind or a condition depends.
package struct TimelineList: Sendable {
  /// Where a row stands and what it is, as the role of an entry: its rank among rows of the same
  /// date, and which of the object's rows it is.
  enum Code: UInt8 {
    case end = 0
    case single = 2
    case instantStart = 3
    case instantEnd = 4
    case start = 6
    case ongoing = 8

    var role: TimelineRole {
      switch self {
      case .end, .instantEnd: .end
      case .single: .single
      case .start, .instantStart: .start
      case .ongoing: .ongoing
      }
    }
  }

  /// The order of a timeline's entries.
  struct Order: ListOrder {
    var isDescending: Bool

    func precedes(_ a: ListEntry, _ b: ListEntry) -> Bool {
      isDescending ? Order.isLess(b, a) : Order.isLess(a, b)
    }

    private static func isLess(_ a: ListEntry, _ b: ListEntry) -> Bool {
      if a.word != b.word { return a.word < b.word }
      let (x, y) = (rank(a), rank(b))
      if x != y { return x < y }
      return a.row != b.row ? a.row < b.row : a.role < b.role
    }

    /// 0 for ends, 1 for singles and instants, 2 for starts, 3 for ongoing rows.
    private static func rank(_ entry: ListEntry) -> UInt8 { (entry.role + 1) / 3 }
  }

  package let definition: TimelineDefinition
  package let order: TimelineOrder
  package let entity: EntityNumber
  package private(set) var state: State
  package private(set) var now: Timestamp
  var list = SortedList()
  /// The objects without a place, by row; their role is the reason.
  var absent = SortedList()
  /// Nil where there is no object.
  private(set) var reading: TimelineReading?
  /// By what the rows are divided; nil for not at all.
  package let division: Division?
  /// The sections of the rows; empty where they are not divided.
  package internal(set) var sections: [TimelineSection] = []

  /// Sections by a unit of the calendar, in a zone.
  package struct Division: Hashable, Sendable {
    var unit: CalendarUnit
    var zone: TimeZone

    package init(_ unit: CalendarUnit, in zone: TimeZone) {
      self.unit = unit
      self.zone = zone
    }
  }

  /// The rows in a state. O(n log n).
  package init(
    _ definition: TimelineDefinition, _ order: TimelineOrder, of entity: EntityNumber,
    in state: State, _ sources: ConditionSources, now: Timestamp, division: Division? = nil
  ) throws(QueryPlan.Failure) {
    self.division = division
    self.definition = definition
    self.order = order
    self.entity = entity
    self.state = state
    self.now = now
    try bind(sources)
    guard let reading else { return }
    var entries: ContiguousArray<ListEntry> = []
    var others: ContiguousArray<ListEntry> = []
    do throws(ConditionFault) {
      try reading.scan.forEachRow { row, cells, endCounts in
        let standing = reading.standing(cells, endCounts)
        forEachEntry(of: row, standing) { entries.append($0) }
        if case .absent(let reason) = standing {
          others.append(ListEntry(word: 0, row: row, role: reason.rawValue))
        }
      }
      let order = Order(isDescending: order.isDescending)
      entries.sort { order.precedes($0, $1) }
      list = SortedList(entries)
      absent = SortedList(others)
      try divide()
    } catch {
      throw .evaluation(error)
    }
  }

  /// Finds the sections. O(sections × log n).
  mutating func divide() throws(ConditionFault) {
    guard let division else { return }
    sections = try sections(by: division.unit, in: division.zone)
  }

  private mutating func bind(_ sources: ConditionSources) throws(QueryPlan.Failure) {
    // Names that an entity without objects does not have, such as one that is to come, are fine.
    guard state.count(of: entity) > 0 else { return reading = nil }
    reading = try QueryPlan.Failure.binding { () throws(ConditionError) in
      try TimelineReading(definition, of: entity, in: state, sources)
    }
  }

  var entryOrder: Order { Order(isDescending: order.isDescending) }

  /// Binds the list to another state and time; its rows stay as they are.
  mutating func rebind(
    to state: State, _ sources: ConditionSources, now: Timestamp
  ) throws(QueryPlan.Failure) {
    self.state = state
    self.now = now
    try bind(sources)
  }

  /// Calls `body` with the entries of an object.
  private func forEachEntry(
    of row: Int64, _ standing: TimelineReading.Standing, _ body: (ListEntry) -> Void
  ) {
    guard case .placed(let start, let end, let kind) = standing else { return }
    func add(_ date: Int64, _ code: Code) {
      body(ListEntry(word: TimelineList.word(date), row: row, role: code.rawValue))
    }
    switch kind {
    case .single: add(start, .single)
    case .range:
      add(start, end == start ? .instantStart : .start)
      if !order.hidesEnds { add(end, end == start ? .instantEnd : .end) }
    case .ongoing:
      add(start, .start)
      guard !order.hidesOngoing else { return }
      add(order.ongoing == .last ? .max : max(start, now.microseconds), .ongoing)
    }
  }

  /// A date as what orders entries.
  static func word(_ date: Int64) -> UInt64 { UInt64(bitPattern: date) ^ 1 << 63 }

  static func date(_ word: UInt64) -> Int64 { Int64(bitPattern: word ^ 1 << 63) }

  /// What an object is in this state, and its entries.
  func standing(
    of row: Int64
  ) throws(ConditionFault) -> (TimelineReading.Standing, [ListEntry]) {
    guard let reading else { return (.gone, []) }
    var standing = TimelineReading.Standing.gone
    _ = try reading.scan.readRow(row) { cells, endCounts in
      standing = reading.standing(cells, endCounts)
    }
    var entries: [ListEntry] = []
    forEachEntry(of: row, standing) { entries.append($0) }
    return (standing, entries)
  }
}

extension TimelineReading {
  /// What an object is on the timeline.
  enum Standing: Equatable {
    /// There is no such object, or the condition is not true of it.
    case gone
    case absent(TimelineAbsence)
    case placed(start: Int64, end: Int64, TimelineKind)
  }

  func standing(_ cells: UnsafeBufferPointer<RowCell>, _ endCounts: Bool) -> Standing {
    guard let start else { return .absent(.noStart) }
    switch Moment(cells[start]) {
    case .none: return .absent(.noStart)
    case .unreadable: return .absent(.unreadableStart)
    case .at(let moment):
      let (kind, end, _) = kind(cells, endCounts: endCounts)
      return .placed(start: moment, end: end, kind)
    }
  }
}

// Reading.
extension TimelineList {
  /// How many rows there are. O(1).
  package var count: Int { list.count }

  /// What the row at a position tells, and its date; nil for an ongoing row.
  package func row(at position: Int) -> (row: Int64, role: TimelineRole, date: Timestamp?) {
    let entry = list[position]
    let role = TimelineList.role(entry)
    let date = Timestamp(microseconds: TimelineList.date(entry.word))
    return (entry.row, role, role == .ongoing ? nil : date)
  }

  static func role(_ entry: ListEntry) -> TimelineRole {
    (Code(rawValue: entry.role) ?? .single).role
  }

  /// The positions of an object's rows, rising. O(log n).
  package func positions(of row: Int64) throws(ConditionFault) -> [Int] {
    var result: [Int] = []
    for entry in try standing(of: row).1 {
      if let position = try list.position(of: entry, by: entryOrder) { result.append(position) }
    }
    return result.sorted()
  }

  /// The objects without a place, rising, with the reason.
  package var unplaced: [(row: Int64, reason: TimelineAbsence)] {
    absent.entries(in: 0..<absent.count).map {
      ($0.row, TimelineAbsence(rawValue: $0.role) ?? .noStart)
    }
  }

  /// How many objects have no place. O(1).
  package var unplacedCount: Int { absent.count }

  /// The objects of the rows at these positions by column, each row's at the place that it has
  /// among them. O(log n) and the rows.
  package func columns(at positions: Range<Int>) throws(ConditionFault) -> TimelineColumns {
    var columns = TimelineColumns()
    guard let reading else { return columns }
    columns.hasWrittenDates = reading.hasWrittenDates
    var numbering = ValueNumbering()
    try list.forEach(in: positions) { (entry) throws(ConditionFault) in
      _ = try reading.scan.readRow(entry.row) { cells, endCounts in
        columns.read(
          ObjectReference(entity: entity, row: entry.row), cells, endCounts, reading, &numbering)
      }
    }
    columns.groups = numbering.values
    return columns
  }
}
