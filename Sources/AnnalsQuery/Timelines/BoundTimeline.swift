import AnnalsModel
import AnnalsState

/// A timeline bound to a state and a present time: what rows the objects of its entity have.
///
/// A value like the state: it reads the objects as they were when it was made.
struct BoundTimeline: Sendable {
  let order: TimelineOrder
  let now: Timestamp
  /// Nil where there is no object.
  let reading: TimelineReading?
  /// Whether rows show labels or groups that other objects give.
  let showsOthers: Bool

  init(
    _ query: TimelineQuery, in state: State, _ sources: ConditionSources, now: Timestamp
  ) throws(StateFault) {
    order = query.order
    self.now = now
    showsOthers = !query.farPaths(in: state.schema).isEmpty
    // Names that an entity without objects does not have, such as one that is to come, are fine.
    reading =
      state.count(of: query.entity) > 0
      ? try TimelineReading(query.definition, of: query.entity, in: state, sources) : nil
  }

  /// Whether dates are texts or days, which have no zone.
  var hasWrittenDates: Bool { reading?.hasWrittenDates ?? false }

  /// Calls `body` with each object, rising, and what it is. O(objects).
  func forEachObject(
    _ body: (Int64, TimelineReading.Standing) -> Void
  ) throws(StateFault) {
    guard let reading else { return }
    try reading.scan.forEachRow { row, cells, endCounts in
      body(row, reading.standing(cells, endCounts: endCounts))
    }
  }

  /// What an object is; nil if there is none, or if the condition is not true of it.
  func standing(of row: Int64) throws(StateFault) -> TimelineReading.Standing? {
    guard let reading else { return nil }
    var result: TimelineReading.Standing?
    _ = try reading.scan.readRow(row) { cells, endCounts in
      result = reading.standing(cells, endCounts: endCounts)
    }
    return result
  }

  /// Whether an object's rows show another label or group of another object than they did.
  func showsOthersOtherwise(_ row: Int64, than old: BoundTimeline) throws(StateFault) -> Bool {
    guard showsOthers || old.showsOthers else { return false }
    return try reading?.shown(of: row) != old.reading?.shown(of: row)
  }

  /// The entries of an object.
  func entries(of row: Int64, _ standing: TimelineReading.Standing?) -> [ListEntry] {
    var entries: [ListEntry] = []
    forEachEntry(of: row, standing) { entries.append($0) }
    return entries
  }

  /// Calls `body` with the entries of an object.
  func forEachEntry(
    of row: Int64, _ standing: TimelineReading.Standing?, _ body: (ListEntry) -> Void
  ) {
    guard case .placed(let start, let end, let kind, _) = standing else { return }
    order.forEachEntry(of: row, start: start, end: end, kind, now: now, body)
  }
}
