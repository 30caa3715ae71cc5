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

  /// What an object is on the timeline.
  enum Standing: Equatable {
    /// There is no such object, or the condition is not true of it.
    case gone
    case absent(TimelineAbsence)
    case placed(start: Int64, end: Int64, TimelineKind)
  }

  init(
    _ query: TimelineQuery, of entity: EntityNumber, in state: State,
    _ sources: ConditionSources, now: Timestamp
  ) throws(ConditionError) {
    order = query.order
    self.now = now
    // Names that an entity without objects does not have, such as one that is to come, are fine.
    reading =
      state.count(of: entity) > 0
      ? try TimelineReading(query.definition, of: entity, in: state, sources) : nil
  }

  /// Whether dates are texts, which have no zone.
  var hasWrittenDates: Bool { reading?.hasWrittenDates ?? false }

  /// Calls `body` with each object, rising, and what it is. O(objects).
  func forEachObject(_ body: (Int64, Standing) -> Void) throws(ConditionFault) {
    try reading?.scan.forEachRow { row, cells, endCounts in
      body(row, standing(cells, endCounts))
    }
  }

  /// What an object is.
  func standing(of row: Int64) throws(ConditionFault) -> Standing {
    var result = Standing.gone
    _ = try reading?.scan.readRow(row) { cells, endCounts in result = standing(cells, endCounts) }
    return result
  }

  private func standing(_ cells: UnsafeBufferPointer<RowCell>, _ endCounts: Bool) -> Standing {
    guard let reading, let start = reading.start else { return .absent(.noStart) }
    switch TimelineReading.Moment(cells[start]) {
    case .none: return .absent(.noStart)
    case .unreadable: return .absent(.unreadableStart)
    case .at(let moment):
      let (kind, end, _) = reading.kind(cells, endCounts: endCounts)
      return .placed(start: moment, end: end, kind)
    }
  }

  /// The entries of an object.
  func entries(of row: Int64, _ standing: Standing) -> [ListEntry] {
    var entries: [ListEntry] = []
    forEachEntry(of: row, standing) { entries.append($0) }
    return entries
  }

  /// Calls `body` with the entries of an object.
  func forEachEntry(of row: Int64, _ standing: Standing, _ body: (ListEntry) -> Void) {
    guard case .placed(let start, let end, let kind) = standing else { return }
    order.forEachEntry(of: row, start: start, end: end, kind, now: now, body)
  }
}
