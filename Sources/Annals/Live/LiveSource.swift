import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// The query of a live view's rows, which resolves names in each state's own schema.
///
/// Does not know the type of the rows, so that steps are compiled once for all types. A class, so
/// that a step retains one object.
final class LiveSource: Sendable {
  /// Finds the sections' key, by its name in a state; nil if that state does not have it.
  typealias Sections =
    @Sendable (Snapshot) throws(AnnalsError) -> (path: PropertyPath, rule: SectionRule)?

  /// The name of the rows' entity in the program.
  let entity: String
  private let query: @Sendable (Snapshot) throws(AnnalsError) -> ListQuery
  /// How the rows are divided; nil for one list without sections.
  private let sections: Sections?
  /// What only records decide, in a state; nil for nothing.
  private let records: (@Sendable (Snapshot) throws(AnnalsError) -> RecordWork)?

  /// The source with the sections of another one.
  init(_ source: LiveSource, sectionsOf other: LiveSource) {
    entity = source.entity
    query = source.query
    sections = other.sections
    records = source.records
  }

  /// Finds the objects that a fetch finds.
  init<R: Record>(_ fetch: Fetch<R>, _ sections: RecordSections<R>?) {
    entity = R.entity.name
    query = { snapshot throws(AnnalsError) in
      ListQuery(try snapshot._query(R.self).plannedQuery(fetch))
    }
    if let sections = sections?.sections {
      self.sections = { snapshot throws(AnnalsError) in
        let path = try snapshot._query(R.self).path(sections.path)
        return path.map { (path: $0, rule: sections.rule) }
      }
    } else {
      self.sections = nil
    }
    if fetch.hasRecordWork {
      records = { snapshot throws(AnnalsError) in
        FetchedRecords(fetch, try snapshot._query(R.self)).work
      }
    } else {
      records = nil
    }
  }

  /// The objects of the named entity that a fetch finds.
  init(_ fetch: ObjectFetch, _ sections: ListSections?) {
    entity = fetch.entity
    query = { snapshot throws(AnnalsError) in
      ListQuery(try snapshot._objectQuery.query(fetch).query)
    }
    if let sections {
      self.sections = { _ throws(AnnalsError) in (path: sections.path, rule: sections.rule) }
    } else {
      self.sections = nil
    }
    records = nil
  }

  /// The rows in a state. O(n log n), or by an index.
  func rows(in snapshot: Snapshot) throws(AnnalsError) -> RowListContent {
    let query = ListQuery(try query(snapshot).rows, sections: try sections?(snapshot))
    let sources = ListSources(
      snapshot.reader.sources, snapshot.reader.largeBytes, try records?(snapshot))
    let list = try snapshot.reader.planning { () throws(QueryPlan.Failure) in
      try QueryList(query, in: snapshot.reader.state, sources)
    }
    return RowListContent(snapshot: snapshot, list: list)
  }

  /// Advances rows to another state, which differs in these objects alone, and returns the
  /// difference. Changes rows in place that nobody else holds. If it throws, they are as before.
  func step(
    _ rows: inout RowListContent, to snapshot: Snapshot, _ changes: ListChanges
  ) throws(AnnalsError) -> ListDiff {
    guard rows.snapshot.bindings.schemaVersion == snapshot.bindings.schemaVersion else {
      // Names may have another meaning.
      return try rebuild(&rows, to: snapshot, changes)
    }
    return try RowListContent.advance(&rows, to: snapshot, changes, try records?(snapshot))
  }

  /// As `step`, from the rows of another source.
  func rebuild(
    _ rows: inout RowListContent, to snapshot: Snapshot, _ changes: ListChanges
  ) throws(AnnalsError) -> ListDiff {
    let turned = try self.rows(in: snapshot)
    let old = rows.list
    var list = turned.list
    let diff = try snapshot.reader.planning { () throws(QueryPlan.Failure) in
      try list.diff(fromOther: old, changes)
    }
    rows = turned
    return diff
  }
}

extension StateReader {
  /// Reads large values that are sort keys.
  var largeBytes: LargeBytes {
    let largeValues = largeValues
    return { try largeValues.bytesLeft(of: $0) }
  }
}
