import AnnalsModel
import AnnalsState

extension QueryList {
  /// A row that changed.
  private struct Affected {
    var row: Int64
    var properties: PropertySet
  }

  /// A row that is removed from the list or inserted, with its place.
  struct Moved {
    var row: Int64
    var entry: ListEntry
    var position = 0
    var section = 0
    var item = 0
    var properties = PropertySet()
    /// Whether it is in the list before and after.
    var stays = false
    /// For a staying row: its index on the other side.
    var partner = 0

    var place: ListDiff.Place {
      ListDiff.Place(position: position, section: section, item: item)
    }
  }

  /// The rows that a step removes, inserts, and leaves in place.
  struct Rows {
    /// By rising position in the old list.
    var out: [Moved] = []
    /// By rising position in the new list.
    var into: [Moved] = []
    /// Rows that changed in place.
    var updated: [Moved] = []
    /// The number of rows removed and inserted again; until they are paired, `partner` counts them.
    var stayCount = 0
  }

  /// Advances to another state, which differs in these objects alone, and returns the difference.
  /// The changes must be merged.
  ///
  /// O(log n) for each change, and for each object that refers to a changed one; with a window also
  /// O(its rows). If it throws, the list must not be used any more.
  package mutating func advance(
    to newState: State, _ changes: ListChanges
  ) throws(QueryPlan.Failure) -> ListDiff {
    let old = self
    let affected = try QueryList.reading { () throws(StateFault) in
      let rows = try affectedRows(by: changes, newState)
      if !referrers.isEmpty { try referrers.advance(by: changes, from: state, to: newState) }
      return rows
    }
    try bind(to: newState)
    guard !affected.isEmpty else { return ListDiff() }
    do throws(ConditionFault) {
      var rows = try classify(affected, old)
      try locate(&rows, in: old)
      var diff: ListDiff
      if rows.out.isEmpty, rows.into.isEmpty, !query.isWindow {
        diff = ListDiff()
        for moved in rows.updated {
          diff.updates.append(
            ListDiff.Step(from: moved.place, to: moved.place, changed: moved.properties))
        }
      } else {
        for moved in rows.out.reversed() { try remove(at: moved.position) }
        try insert(&rows.into)
        diff = try query.isWindow ? windowDiff(from: old, rows) : self.diff(from: old, &rows)
      }
      diff.entity = newState.schema.entity(numbered: query.rows.entity)
      return diff
    } catch {
      throw .evaluation(error)
    }
  }

  private mutating func bind(to newState: State) throws(QueryPlan.Failure) {
    if records == nil, newState.schema == state.schema,
      let condition = condition.rebound(to: newState, sources),
      let order = order.rebound(to: newState, bytes)
    {
      (self.condition, self.order) = (condition, order)
    } else {
      (condition, order) = try QueryList.bind(query, in: newState, sources, bytes, records)
    }
    state = newState
  }

  static func reading<T>(_ body: () throws(StateFault) -> T) throws(QueryPlan.Failure) -> T {
    do throws(StateFault) { return try body() } catch { throw .state(error) }
  }

  /// The rows of the list's entity that may have changed, each once, rising.
  private func affectedRows(
    by changes: ListChanges, _ newState: State
  ) throws(StateFault) -> ContiguousArray<Affected> {
    let entity = query.rows.entity
    var own: ContiguousArray<Affected> = []
    for change in changes.elements where change.object.entity == entity {
      own.append(Affected(row: change.object.row, properties: change.properties))
    }
    var far: [Int64] = []
    try referrers.forEachAffected(by: changes, from: state, to: newState) { far.append($0) }
    guard !far.isEmpty else { return own }
    far.sort()
    var merged: ContiguousArray<Affected> = []
    var next = 0
    for row in far where merged.last?.row != row {
      while next < own.count, own[next].row <= row {
        merged.append(own[next])
        next += 1
      }
      if merged.last?.row != row { merged.append(Affected(row: row, properties: PropertySet())) }
    }
    merged.append(contentsOf: own[next...])
    return merged
  }

  /// Classifies the rows, without positions.
  private func classify(
    _ affected: ContiguousArray<Affected>, _ old: QueryList
  ) throws(ConditionFault) -> Rows {
    var rows = Rows()
    let isByOwnValues = referrers.isEmpty && order.records == nil && records?.filters != true
    for one in affected {
      let wasIn = try old.holds(one.row)
      if wasIn, isByOwnValues, !one.properties.isEmpty,
        one.properties.isDisjoint(with: referrers.ownProperties), try condition.contains(one.row)
      {
        // Nothing that the condition or the order asks for changed.
        rows.updated.append(
          Moved(
            row: one.row, entry: try old.entry(of: one.row), properties: one.properties,
            stays: true))
        continue
      }
      let isIn = try isWanted(one.row)
      guard wasIn || isIn else { continue }
      let before = wasIn ? try old.entry(of: one.row) : nil
      let after = isIn ? try entry(of: one.row) : nil
      if let before, let after {
        let isSame: Bool
        if let hasSameKeys = order.haveEqualKeys(before.word, after.word) {
          isSame = hasSameKeys
        } else {
          isSame = try old.hasSameKeys(one.row, in: order)
        }
        if isSame {
          if !one.properties.isEmpty {
            rows.updated.append(
              Moved(row: one.row, entry: before, properties: one.properties, stays: true))
          }
          continue
        }
      }
      if let before {
        rows.out.append(
          Moved(
            row: one.row, entry: before, properties: one.properties, stays: isIn,
            partner: rows.stayCount))
      }
      if let after {
        rows.into.append(
          Moved(
            row: one.row, entry: after, properties: one.properties, stays: wasIn,
            partner: rows.stayCount))
        if wasIn { rows.stayCount += 1 }
      }
    }
    return rows
  }

  /// Whether the query finds a row in the list's state.
  private func isWanted(_ row: Int64) throws(ConditionFault) -> Bool {
    guard try condition.matches(row) else { return false }
    guard let records, records.filters else { return true }
    return try !records.wanted([row], in: state).isEmpty
  }

  /// Whether a row is in the list. What was found true of its record is not asked again.
  private func holds(_ row: Int64) throws(ConditionFault) -> Bool {
    guard try condition.matches(row) else { return false }
    guard let records, records.filters else { return true }
    return try found.position(of: entry(of: row), by: order) != nil
  }

  private func hasSameKeys(_ row: Int64, in other: RowOrder) throws(ConditionFault) -> Bool {
    try order.outcome(row, row, in: other, byFirstKeyOnly: false) == .equal
  }

  /// Finds where the rows are in the old list.
  private func locate(_ rows: inout Rows, in old: QueryList) throws(ConditionFault) {
    func locate(_ moved: inout Moved) throws(ConditionFault) {
      guard let position = try old.found.position(of: moved.entry, by: old.order) else {
        guard old.order.records == nil else { throw .record(UnsteadyOrder(row: moved.row)) }
        preconditionFailure("a row of a live list is not at its place")
      }
      moved.position = position
      guard query.sections != nil else {
        moved.item = position
        return
      }
      moved.section = old.found.section(at: position)
      moved.item = position - old.found.start(ofSection: moved.section)
    }
    for index in rows.out.indices { try locate(&rows.out[index]) }
    for index in rows.updated.indices { try locate(&rows.updated[index]) }
    rows.out.sortByPosition()
    rows.updated.sortByPosition()
  }

  /// Removes the entry at a position; the next one may then begin its section.
  private mutating func remove(at position: Int) throws(ConditionFault) {
    let begins = query.sections != nil && found[position].beginsSection
    found.remove(at: position)
    if begins, position < found.count { found.setBeginsSection(true, at: position) }
  }

  /// Inserts rows and notes their positions, in order, so that positions are final.
  private mutating func insert(_ rows: inout [Moved]) throws(ConditionFault) {
    try rows.sortByEntry(in: order)
    for index in rows.indices {
      var entry = rows[index].entry
      let position = try found.rank(of: entry, by: order)
      if query.sections != nil {
        entry.beginsSection = true
        if position > 0, try isSameSection(found[position - 1], entry) {
          entry.beginsSection = false
        } else if position < found.count, try isSameSection(entry, found[position]) {
          found.setBeginsSection(false, at: position)
        }
      }
      found.insert(entry, at: position)
      rows[index].position = position
    }
    for index in rows.indices {
      let position = rows[index].position
      rows[index].item = position
      guard query.sections != nil else { continue }
      rows[index].section = found.section(at: position)
      rows[index].item = position - found.start(ofSection: rows[index].section)
    }
  }
}

/// The order of records gives another answer for the same record than before.
package struct UnsteadyOrder: Error {
  /// The row of the record.
  package let row: Int64
}
