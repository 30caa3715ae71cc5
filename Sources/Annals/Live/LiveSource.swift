import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// The source of a live view's rows: the query, which resolves names in each state's own schema,
/// and how rows are read.
struct LiveSource<Row: Sendable>: Sendable {
  /// Finds the sections' key, by its name in a state; nil if that state does not have it.
  typealias Sections =
    @Sendable (Snapshot) throws(AnnalsError) -> (path: PropertyPath, rule: SectionRule)?

  /// The name of the rows' entity in the program.
  let entity: String
  let query: @Sendable (Snapshot) throws(AnnalsError) -> ListQuery
  let read: RowList<Row>.RowReader<Row>
  /// How the rows are divided; nil for one list without sections.
  var sections: Sections?
  /// What only records decide, in a state; nil for nothing.
  var records: (@Sendable (Snapshot) throws(AnnalsError) -> any RecordWork)?

  /// The rows in a state. O(n log n), or by an index.
  func rows(in snapshot: Snapshot) throws(AnnalsError) -> RowList<Row> {
    let plain = try query(snapshot)
    let query = ListQuery(
      plain.rows, sections: try sections?(snapshot), records: plain.records)
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
    let rows = try rows(in: snapshot)
    var list = rows.list
    let diff = try AnnalsError.planning { () throws(QueryPlan.Failure) in
      try list.diff(fromOther: old.list, changes)
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
    entity = R.entity.name
    query = { snapshot throws(AnnalsError) in
      let query = try snapshot._query(R.self)
      return ListQuery(try query.plannedQuery(fetch), records: query.work(fetch))
    }
    if let sections = sections?.sections {
      self.sections = { snapshot throws(AnnalsError) in
        let path = try snapshot._query(R.self).path(sections.path)
        return path.map { (path: $0, rule: sections.rule) }
      }
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
    entity = fetch.entity
    query = { snapshot throws(AnnalsError) in
      ListQuery(try snapshot._objectQuery.query(fetch).query)
    }
    if let sections {
      self.sections = { _ throws(AnnalsError) in (path: sections.path, rule: sections.rule) }
    }
    read = { snapshot, rows throws(AnnalsError) in
      let reader = snapshot.reader
      return try reader.objects(rows, of: reader.entity(named: fetch.entity))
    }
  }
}
