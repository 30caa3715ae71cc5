import AnnalsModel
import AnnalsState

/// An index in which the objects of each group are consecutive, so that two rank searches count a
/// group.
struct IndexRuns: Sendable {
  let path: IndexPath
  private let isDescending: Bool

  /// Nil if no such index covers the query's condition, or if anything but counts is asked for.
  init?(
    _ group: GroupQuery, of query: RowQuery, in state: State
  ) throws(StateFault) {
    guard group.aggregates.isEmpty, query.indexes != .none, let key = group.path,
      key.replacement == nil, key.names.count == 1,
      let entity = state.schema.entity(numbered: query.entity),
      let attribute = entity.attribute(named: key.names[0]), attribute.type != .any
    else { return nil }
    for shape in entity.indexShapes where shape.kind.givesOrder {
      let name = entity.name(of: shape)
      if case .named(let wanted) = query.indexes, !wanted.hasSameBytes(as: name) { continue }
      let path = try IndexPath(
        query, shape, name: name, of: entity, in: state, groupedBy: attribute.number)
      guard let path, path.rest == .always, !shape.isUnique,
        path.singles.count < shape.columns.count
      else { continue }
      self.path = path
      isDescending = shape.columns[path.singles.count].isDescending
      return
    }
    return nil
  }

  /// Counts the groups. Returns false if there are so many that reading every object is faster.
  /// O(groups × log n).
  func count(
    into collected: inout GroupPlan.Collected, _ plan: GroupPlan
  ) throws(StateFault) -> Bool {
    guard let table = plan.state.table(plan.query.entity), let names = plan.group.path else {
      return false
    }
    let key = try BoundPath(names, from: plan.query.entity, in: plan.state)
    var batch = CellBatch()
    let places = path.places.first ?? 0..<0
    var place = places.lowerBound
    // A search costs about as much as reading eight objects.
    var searchesLeft = 64 + path.count / 8
    while place < places.upperBound, let row = try path.view.row(at: place) {
      searchesLeft -= 1
      if searchesLeft < 0 { return false }
      try batch.read(key, of: [row], in: table)
      let group = try plan.group(of: batch.cells[0], in: batch, &collected.keys)
      let value = batch.value(0)
      let end = try end(of: value, collected.keys.bucket(group), from: place, in: places)
      collected.add(end - place, to: group)
      place = end
    }
    return true
  }

  /// The place after the last object in the same group as the one at a place.
  private func end(
    of value: Value, _ bucket: CalendarBucket?, from place: Int, in places: Range<Int>
  ) throws(StateFault) -> Int {
    var bound = IndexBound(values: path.singles + [value], isAfter: true)
    if let range = bucket?.range, case .day = value {
      func day(_ moment: Timestamp) -> CalendarDay {
        CalendarDay(nearestTo: moment.microseconds / 86_400_000_000)
      }
      // The first day of the next bucket; behind the last one there is none.
      let (first, next) = (day(range.lowerBound), day(range.upperBound))
      let isLast = next.startInUTC < range.upperBound
      bound =
        isDescending
        ? IndexBound(values: path.singles + [.day(first)], isAfter: true)
        : IndexBound(values: path.singles + [.day(next)], isAfter: isLast)
    } else if let range = bucket?.range {
      // An object at the last moment of all ends a run of its own, of the same group.
      bound =
        isDescending
        ? IndexBound(values: path.singles + [.date(range.lowerBound)], isAfter: true)
        : IndexBound(values: path.singles + [.date(range.upperBound)], isAfter: false)
    }
    let end = try path.view.place(of: bound)
    return min(places.upperBound, max(place + 1, end))
  }
}
