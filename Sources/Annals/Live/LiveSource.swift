import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// The source of a live view's rows: the query, which resolves names in each state's own schema,
/// and how rows are read.
struct LiveSource<Row: Sendable>: Sendable {
  let query: @Sendable (Snapshot) throws(AnnalsError) -> ListQuery
  let read: RowList<Row>.RowReader<Row>
  /// What only records decide, in a state; nil for nothing.
  var records: (@Sendable (Snapshot) throws(AnnalsError) -> any RecordWork)?

  /// The rows in a state. O(n log n), or by an index.
  func rows(in snapshot: Snapshot) throws(AnnalsError) -> RowList<Row> {
    let query = try query(snapshot)
    let list = try AnnalsError.planning { () throws(QueryPlan.Failure) in
      try QueryList(
        query, in: snapshot.reader.state, snapshot.reader.sources, snapshot.reader.largeBytes)
    }
    return RowList(snapshot: snapshot, list: list, read: read)
  }

  /// The rows in another state, which differs in these objects alone, and the difference from the
  /// old rows.
  func step(
    from old: RowList<Row>, to snapshot: Snapshot, _ changes: ListChanges
  ) throws(AnnalsError) -> LiveUpdate<Row> {
    guard old.snapshot.bindings.schemaVersion == snapshot.bindings.schemaVersion else {
      // Names may have another meaning.
      return try turn(from: old, to: snapshot, changes)
    }
    var list = old.list
    let records = try records?(snapshot)
    let diff = try AnnalsError.planning { () throws(QueryPlan.Failure) in
      list.read(snapshot.reader.sources, snapshot.reader.largeBytes, records)
      return try list.advance(to: snapshot.reader.state, changes)
    }
    return LiveUpdate(
      rows: RowList(snapshot: snapshot, list: list, read: read), diff: diff, isInitial: false)
  }

  /// As `step`, from the rows of another source.
  func turn(
    from old: RowList<Row>, to snapshot: Snapshot, _ changes: ListChanges
  ) throws(AnnalsError) -> LiveUpdate<Row> {
    var rows = try rows(in: snapshot)
    let diff = try AnnalsError.planning { () throws(QueryPlan.Failure) in
      try rows.list.diff(fromOther: old.list, changes)
    }
    return LiveUpdate(rows: rows, diff: diff, isInitial: false)
  }
}

extension StateReader {
  /// Reads large values that are sort keys.
  var largeBytes: LargeBytes {
    let largeValues = largeValues
    return { try largeValues.bytesLeft(of: $0) }
  }
}

extension LiveSource {
  /// Shows the objects that a fetch finds.
  init<R: Record>(
    _ fetch: Fetch<R>, _ sections: RecordSections<R>?
  ) where Row == Object<R> {
    query = { snapshot throws(AnnalsError) in
      let query = try snapshot._query(R.self)
      let rows = try query.plannedQuery(fetch)
      let records = query.work(fetch)
      guard let sections, let path = try query.path(sections.sections.path) else {
        return ListQuery(rows, records: records)
      }
      return ListQuery(
        rows, sections: (path: path, rule: sections.sections.rule), records: records)
    }
    if fetch.hasRecordWork {
      records = { snapshot throws(AnnalsError) in
        FetchedRecords(fetch, try snapshot._query(R.self))
      }
    }
    read = { snapshot, rows throws(AnnalsError) in
      try snapshot._query(R.self).objects(rows)
    }
  }

  /// The objects of the named entity that a fetch finds.
  init(_ fetch: ObjectFetch, _ sections: ListSections?) where Row == StoredObject {
    query = { snapshot throws(AnnalsError) in
      let query = try snapshot._objectQuery.query(fetch).query
      return ListQuery(query, sections: sections.map { (path: $0.path, rule: $0.rule) })
    }
    read = { snapshot, rows throws(AnnalsError) in
      let reader = snapshot.reader
      return try reader.objects(rows, of: reader.entity(named: fetch.entity))
    }
  }
}
