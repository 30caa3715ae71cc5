import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// What the copies of a list of rows share.
///
/// Read from any thread; changed only by the holder of the only reference.
final class RowListContent: @unchecked Sendable {
  // Exclusive access follows from the rule above.
  @exclusivity(unchecked) private(set) var snapshot: Snapshot
  @exclusivity(unchecked) private(set) var list: QueryList

  init(snapshot: Snapshot, list: QueryList) {
    self.snapshot = snapshot
    self.list = list
  }

  /// Advances rows to another state of the same schema, which differs in these objects alone, and
  /// returns the difference. Changes them in place if nobody else holds them. If it throws, they
  /// are as before.
  static func advance(
    _ rows: inout RowListContent, to snapshot: consuming Snapshot, _ changes: ListChanges,
    _ records: RecordWork?
  ) throws(AnnalsError) -> ListDiff {
    if isUniquelyHeld(&rows) {
      let diff = try rows.list.step(to: snapshot, changes, records)
      rows.snapshot = snapshot
      return diff
    }
    var list = rows.list
    let diff = try list.step(to: snapshot, changes, records)
    rows = RowListContent(snapshot: snapshot, list: list)
    return diff
  }
}

extension QueryList {
  fileprivate mutating func step(
    to snapshot: borrowing Snapshot, _ changes: ListChanges, _ records: RecordWork?
  ) throws(AnnalsError) -> ListDiff {
    let reader = snapshot.reader
    let sources = snapshot.listSources(records)
    return try reader.planning { try advance(to: reader.state, changes, sources) }
  }
}

extension Snapshot {
  /// What a list reads besides the state.
  func listSources(_ records: RecordWork?) -> ListSources {
    ListSources(reader.sources, reader.largeBytes, records, clock: clock)
  }
}
