import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension StoreVersion {
  /// The objects that differ between two states of this version, of which either may be the earlier
  /// one; those of `entities` at least.
  ///
  /// O(transactions between them); O(objects) if the log no longer has them.
  func changes(
    from first: Snapshot, to second: Snapshot, of entities: Set<EntityNumber>
  ) throws(AnnalsError) -> ListChanges {
    var (old, new) = (first.reader.state, second.reader.state)
    guard first.token != second.token else { return ListChanges() }
    if old.schema != new.schema {
      // What the earlier schema does not define yet is empty in its state, not missing.
      if first.number < second.number {
        old.setSchema(new.schema)
      } else {
        new.setSchema(old.schema)
      }
    }
    do throws(AnnalsError) {
      let (a, b) = (
        try number(after: first.token), try number(after: second.token)
      )
      var changes = ListChanges()
      var cursor = try PartCursor(
        History(version: self, after: min(a, b), through: max(a, b), condition: .always))
      while let part = try cursor.next() {
        if let lost = part.record.lost { throw .lost(part.record.number, lost) }
        changes.append(part.page.batch, part.record.changeRange)
      }
      changes.merge()
      // The log holds the net result of one transaction.
      if abs(a - b) == 1 { return changes }
      let (before, after) = (old, new)
      return try AnnalsError.translating { try changes.net(from: before, to: after) }
    } catch {
      guard error.isMissingHistory else { throw error }
      let (before, after) = (old, new)
      return try AnnalsError.translating {
        try ListChanges.all(of: entities, from: before, to: after)
      }
    }
  }
}

extension Publication {
  /// The objects that differ between a state and that of this publication; see
  /// `StoreVersion.changes(from:to:of:)`.
  func changes(
    from old: @autoclosure () -> Snapshot, to new: Snapshot,
    of entities: @autoclosure () -> Set<EntityNumber>
  ) throws(AnnalsError) -> ListChanges {
    guard let batch else { return try version.changes(from: old(), to: new, of: entities()) }
    var changes = ListChanges()
    changes.append(batch)
    changes.merge()
    return changes
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
    try diff(of: LiveSource(fetch, sections), from: first, to: second)
  }

  /// The difference between the results of a fetch by names; as the other form.
  public func diff(
    of fetch: DynamicFetch, sections: ListSections? = nil, from first: any HistoryPosition,
    to second: (any HistoryPosition)? = nil
  ) throws(AnnalsError) -> ListDiff {
    try diff(of: LiveSource(fetch, sections), from: first, to: second)
  }

  private func diff(
    of source: LiveSource, from first: any HistoryPosition, to second: (any HistoryPosition)?
  ) throws(AnnalsError) -> ListDiff {
    let version = version
    let start = try version.snapshot(at: number(at: first, in: version))
    var end = version.snapshot
    if let second { end = try version.snapshot(at: number(at: second, in: version)) }
    var rows = try source.rows(in: start)
    let changes = try version.changes(from: start, to: end, of: rows.list.entities)
    return start.schema == end.schema
      ? try source.step(&rows, to: end, changes) : try source.rebuild(&rows, to: end, changes)
  }
}
