import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension StoreVersion {
  /// The objects that differ between rows and a state of this version, of which either may be the
  /// earlier one.
  ///
  /// O(transactions between them); O(objects) if the log no longer has them.
  func changes<Row>(
    from rows: RowList<Row>, to snapshot: Snapshot
  ) throws(AnnalsError) -> ListChanges {
    var (old, new) = (rows.snapshot.reader.state, snapshot.reader.state)
    guard rows.token != snapshot.token else { return ListChanges() }
    if old.schema != new.schema {
      // What the earlier schema does not define yet is empty in its state, not missing.
      if rows.snapshot.number < snapshot.number {
        old.setSchema(new.schema)
      } else {
        new.setSchema(old.schema)
      }
    }
    do throws(AnnalsError) {
      let (a, b) = (
        try number(after: .token(rows.token)), try number(after: .token(snapshot.token))
      )
      var changes = ListChanges()
      var cursor = try PartCursor(
        History(version: self, after: min(a, b), through: max(a, b), condition: .always))
      while let part = try cursor.next() {
        if part.record.lost != nil { return try all(rows, old, new) }
        changes.append(part.page.batch, part.record.changeRange)
      }
      changes.merge()
      // The log holds the net result of one transaction.
      if abs(a - b) == 1 { return changes }
      let (before, after) = (old, new)
      return try AnnalsError.translating { () throws(StateFault) in
        try changes.net(from: before, to: after)
      }
    } catch {
      guard error.isMissingHistory else { throw error }
      return try all(rows, old, new)
    }
  }

  private func all<Row>(
    _ rows: RowList<Row>, _ old: State, _ new: State
  ) throws(AnnalsError) -> ListChanges {
    try AnnalsError.translating { () throws(StateFault) in
      try ListChanges.all(of: rows.list.entities, from: old, to: new)
    }
  }
}

extension AnnalsError {
  /// Whether the history needed is not there any more.
  var isMissingHistory: Bool {
    [.pruned, .lost, .lostBranch, .beyondHead].contains(code)
  }
}

extension Store {
  /// The difference between the results of a fetch at two positions of history, in either order:
  /// what a live view would have shown as one update.
  ///
  /// Costs making the two states, O(n log n), and the transactions between them. Throws as
  /// `snapshot(at:)` and `Snapshot.fetch(_:)` do.
  public func diff<R: Record>(
    of fetch: Fetch<R>, sections: RecordSections<R>? = nil, from first: any HistoryPosition,
    to second: (any HistoryPosition)? = nil
  ) throws(AnnalsError) -> ListDiff {
    let version = version
    let source = LiveSource(fetch, sections)
    let start = try version.snapshot(at: version.number(at: first.historyPlace))
    var end = version.snapshot
    if let second { end = try version.snapshot(at: version.number(at: second.historyPlace)) }
    let old = try source.rows(in: start)
    let changes = try version.changes(from: old, to: end)
    return start.schema == end.schema
      ? try source.step(from: old, to: end, changes).diff
      : try source.turn(from: old, to: end, changes).diff
  }
}
