import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

/// The rows of a live timeline as of one transaction. Immutable.
///
/// Holds the order of all rows, and reads what they show on demand from its state; so what reads it
/// is `throws`.
public struct TimelineRowList: Sendable {
  /// Behind one reference, since views, updates and iterators copy and assign lists of rows.
  private final class Contents: Sendable {
    let snapshot: Snapshot
    let list: QueryList
    let zone: TimeZone

    init(_ snapshot: Snapshot, _ list: QueryList, _ zone: TimeZone) {
      self.snapshot = snapshot
      self.list = list
      self.zone = zone
    }
  }

  private let contents: Contents

  init(snapshot: Snapshot, list: QueryList, zone: TimeZone) {
    contents = Contents(snapshot, list, zone)
  }

  /// The state that the rows were found in.
  public var snapshot: Snapshot { contents.snapshot }
  var list: QueryList { contents.list }
  var zone: TimeZone { contents.zone }

  /// The position in history of that state.
  public var token: Token { snapshot.token }

  /// The number of rows. O(1).
  public var count: Int { list.count }

  /// Whether there are no rows. O(1).
  public var isEmpty: Bool { count == 0 }

  /// The time that counts as present.
  public var now: Date { Date(list.now) }

  /// Which rows there are, and in what order.
  public var order: TimelineOrder { list.query.timeline?.order ?? TimelineOrder() }

  /// The row at a position. Traps if there is none.
  public subscript(position: Int) -> TimelineRow {
    get throws(AnnalsError) { try rows(in: position..<position + 1)[0] }
  }

  /// The rows at these positions, without reading others. Traps if a position is out of range.
  /// O(log n) and the rows.
  public func rows(in range: Range<Int>) throws(AnnalsError) -> [TimelineRow] {
    let columns = try AnnalsError.evaluating { () throws(ConditionFault) in
      try list.columns(at: range)
    }
    let clock = TimelineClock(zone: zone, now: list.now)
    return columns.objects.indices.map { index in
      TimelineRow(
        TimelineSpan(columns, index, clock, store: snapshot.reader.store),
        list.entry(at: range.lowerBound + index).role)
    }
  }

  /// All rows. O(n log n).
  public func all() throws(AnnalsError) -> [TimelineRow] { try rows(in: 0..<count) }

  /// The positions of the object's rows, rising; empty if it has none. O(log n). Throws
  /// `.otherStore` if it is an object of another store.
  public func positions(of id: ObjectID) throws(AnnalsError) -> [Int] {
    try id.requireOwn(snapshot.reader.store)
    guard id.entity == list.query.rows.entity else { return [] }
    return try AnnalsError.evaluating { () throws(ConditionFault) in
      try list.positions(of: id.row)
    }
  }

  /// The sections of the live timeline; empty if it has none. O(sections × log n).
  public var sections: [TimelineSection] {
    guard case .calendar(let unit, _) = list.query.sections else { return [] }
    return list.sections(by: unit)
  }

  /// The rows in sections, as `TimelineRows.sections(by:)` gives them.
  public func sections(by unit: CalendarUnit?) throws(AnnalsError) -> [TimelineSection] {
    list.sections(by: unit)
  }

  /// The number of objects without a place. O(1).
  public var unplacedCount: Int { list.unplacedCount }

  /// The objects without a place, in id order.
  public var unplaced: [TimelineRows.Unplaced] {
    list.unplaced.map { row, reason in
      TimelineRows.Unplaced(
        objectID: ObjectID(store: snapshot.reader.store, entity: list.query.rows.entity, row: row),
        reason: reason)
    }
  }
}

/// One update of a live timeline: the current rows, and the difference from the previous ones.
public struct TimelineUpdate: Sendable {
  /// The rows.
  public let rows: TimelineRowList
  /// The difference from the rows of the previous update; from no rows in the first.
  public let diff: ListDiff
  /// Whether this is the iterator's first update.
  public let isInitial: Bool

  /// The position in history of the rows' state.
  public var token: Token { rows.token }
}

extension TimelineUpdate: CustomStringConvertible {
  /// How many rows there are and what changed, as of an update of a live view.
  public var description: String {
    "\(rows.count) \(rows.count == 1 ? "row" : "rows") as of transaction \(token.number): \(diff)"
  }
}
