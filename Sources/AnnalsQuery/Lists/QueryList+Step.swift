import AnnalsModel
import AnnalsState

extension QueryList {
  /// Advances to another state, which differs in these objects alone, and returns the difference.
  /// The changes must be merged. What is read besides the state is read from `sources`.
  ///
  /// O(log n) for each change, and for each object that refers to a changed one; with a window also
  /// O(its rows). Changes in place what no copy of the list shares. If it throws, the list is as
  /// before.
  package mutating func advance(
    to newState: State, _ changes: ListChanges, _ sources: ListSources
  ) throws(StateFault) -> ListDiff {
    // Sections and windows are compared with those before.
    let before = query.sections != nil || query.isWindow ? self : nil
    do throws(StateFault) {
      return try step(to: newState, changes, sources, from: before)
    } catch {
      if let before { self = before }
      throw error
    }
  }

  /// As `advance`. `before` is this list, where it is kept.
  private mutating func step(
    to newState: State, _ changes: ListChanges, _ sources: ListSources, from before: QueryList?
  ) throws(StateFault) -> ListDiff {
    let next = try bound.rebound(query, to: newState, sources)
    let affected = try affectedRows(by: changes, next)
    let newReferrers = try advancedReferrers(by: changes, newState)
    var moves = ListMoves(affected)
    try classify(&moves, next)
    try moves.locate(in: found, from: bound.order, to: next.order)
    // From here on nothing throws unless the list before is kept.
    bound = next
    if found.count == 0 { buckets = query.buckets(bound) }
    if let newReferrers { referrers = newReferrers }
    guard !affected.isEmpty else { return ListDiff() }
    absent.apply(moves.absence)
    if !moves.leavesAll { found.apply(moves.edits()) }
    if query.sections != nil { try markSections(around: moves) }
    var diff =
      if let before, query.isWindow {
        try windowDiff(from: before, moves)
      } else {
        try self.diff(moves, from: before)
      }
    diff.entity = newState.schema.entity(numbered: query.rows.entity)
    return diff
  }

  /// The referrers in another state; nil if there are none.
  private func advancedReferrers(
    by changes: ListChanges, _ newState: State
  ) throws(StateFault) -> Referrers? {
    guard !referrers.isEmpty else { return nil }
    var advanced = referrers
    try advanced.advance(by: changes, from: state, to: newState)
    return advanced
  }

  /// The objects of the list's entity whose rows may have changed, each once, rising.
  private func affectedRows(
    by changes: ListChanges, _ next: ListBinding
  ) throws(StateFault) -> ContiguousArray<ListMoves.Changed> {
    let entity = query.rows.entity
    var own: ContiguousArray<ListMoves.Changed> = []
    for change in changes.elements where change.object.entity == entity {
      own.append(ListMoves.Changed(row: change.object.row, properties: change.properties))
    }
    var far = rowsPassedByTime(next)
    if !referrers.isEmpty {
      try referrers.forEachAffected(by: changes, from: state, to: next.state) { far.append($0) }
    }
    guard !far.isEmpty else { return own }
    far.sort()
    var merged: ContiguousArray<ListMoves.Changed> = []
    var next = 0
    for row in far where merged.last?.row != row {
      while next < own.count, own[next].row <= row {
        merged.append(own[next])
        next += 1
      }
      if merged.last?.row != row {
        merged.append(ListMoves.Changed(row: row, properties: PropertySet()))
      }
    }
    merged.append(contentsOf: own[next...])
    return merged
  }

  /// Notes which of the changed rows are in the list before and after.
  private func classify(
    _ moves: inout ListMoves, _ next: ListBinding
  ) throws(StateFault) {
    if let old = bound.timeline, let new = next.timeline { return try classify(&moves, old, new) }
    let isByOwnValues = referrers.isEmpty && !next.asksRecords
    var oldBlock = RowBlock.none
    var newBlock = RowBlock.none
    for index in moves.changed.indices {
      let row = moves.changed[index].row
      let properties = moves.changed[index].properties
      if isByOwnValues, !properties.isEmpty, properties.isDisjoint(with: referrers.ownProperties),
        try bound.contains(row, &oldBlock), let entry = try next.entry(ofMatching: row, &newBlock)
      {
        // Nothing that the condition or the order asks for changed.
        moves.update(index, entry)
        continue
      }
      let before = try oldEntry(of: row, &oldBlock)
      var after = try next.entry(ofMatching: row, &newBlock)
      if next.asksRecords, after != nil, try !next.wantsRecord(row) { after = nil }
      if let before, let after, try hasSameKeys(before, after, next.order) {
        moves.update(index, before)
      } else {
        moves.move(index, before, after)
      }
    }
  }

  /// The entry of a row that is in the list before a step. What was found true of its record is not
  /// asked again.
  private func oldEntry(
    of row: Int64, _ block: inout RowBlock
  ) throws(StateFault) -> ListEntry? {
    guard let entry = try bound.entry(ofMatching: row, &block) else { return nil }
    guard bound.asksRecords, bound.sources.records?.filter != nil else { return entry }
    return try found.position(of: entry, by: order) == nil ? nil : entry
  }

  /// Whether a row has the same keys in this state and, with another entry, in another one.
  private func hasSameKeys(
    _ before: ListEntry, _ after: ListEntry, _ next: RowOrder
  ) throws(StateFault) -> Bool {
    if let hasSameKeys = next.haveEqualKeys(before.word, after.word) { return hasSameKeys }
    return try bound.order.outcome(before.row, after.row, in: next, from: 0) == .equal
  }

  /// Marks where sections begin, around rows that were removed and inserted.
  private mutating func markSections(around moves: ListMoves) throws(StateFault) {
    for row in moves.out { try markSection(at: moves.newPosition(of: row.position)) }
    for row in moves.into {
      try markSection(at: row.position)
      try markSection(at: row.position + 1)
    }
  }

  private mutating func markSection(at position: Int) throws(StateFault) {
    guard position < found.count else { return }
    var begins = position == 0
    if !begins { begins = try !isSameSection(found[position - 1], found[position]) }
    found.setBeginsSection(begins, at: position)
  }
}
