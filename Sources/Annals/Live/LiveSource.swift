import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

/// The query of a live view's rows, which resolves names in each state's own schema.
///
/// Does not know the type of the rows, so that steps are compiled once for all types. A class, so
/// that a step retains one object.
final class LiveSource: Sendable {
  /// Finds something by its name in a state.
  typealias Lookup<T> = @Sendable (Snapshot) throws(AnnalsError) -> T
  /// Finds the sections, by names in a state; nil if that state does not have their key.
  typealias Sections = Lookup<ListSections?>

  /// The name of the rows' entity in the program.
  let entity: String
  private let query: Lookup<ListQuery>
  /// How the rows are divided, unless the query says it; nil for one list without sections.
  private let sections: Sections?
  /// What only records decide, in a state; nil for nothing.
  private let records: Lookup<RecordWork>?
  /// The zone of a timeline, and the calendar unit of its sections.
  let calendar: (zone: TimeZone, unit: CalendarUnit?)

  /// Creates the source from its parts.
  init(
    _ entity: String, _ sections: Sections? = nil, _ records: Lookup<RecordWork>? = nil,
    _ calendar: (zone: TimeZone, unit: CalendarUnit?) = (.gmt, nil),
    _ query: @escaping Lookup<ListQuery>
  ) {
    self.entity = entity
    self.query = query
    self.sections = sections
    self.records = records
    self.calendar = calendar
  }

  /// The source with the sections of another one, unless that is of another entity.
  func withSections(of other: LiveSource) -> LiveSource {
    guard entity == other.entity else { return self }
    return LiveSource(entity, other.sections, records, calendar, query)
  }

  /// Finds the objects that a fetch finds.
  convenience init<R: Record>(_ fetch: Fetch<R>, _ sections: RecordSections<R>?) {
    var lookup: Sections?
    if let sections = sections?.sections {
      lookup = { snapshot throws(AnnalsError) in
        let path = try snapshot._query(R.self).path(sections.path)
        return path.map { ListSections(path: $0, rule: sections.rule, order: sections.order) }
      }
    }
    var records: Lookup<RecordWork>?
    if fetch.hasRecordWork {
      records = { snapshot throws(AnnalsError) in
        FetchedRecords(fetch, try snapshot._query(R.self)).work
      }
    }
    self.init(R.entity.name, lookup, records) { snapshot throws(AnnalsError) in
      ListQuery(try snapshot._query(R.self).plannedQuery(fetch))
    }
  }

  /// The objects of the named entity that a fetch finds.
  convenience init(_ fetch: DynamicFetch, _ sections: ListSections?) {
    var lookup: Sections?
    if let sections {
      lookup = { _ throws(AnnalsError) in sections }
    }
    self.init(fetch.entity, lookup) { snapshot throws(AnnalsError) in
      ListQuery(try snapshot._dynamicQuery.query(fetch).query)
    }
  }

  /// The rows in a state. O(n log n), or by an index.
  func rows(in snapshot: Snapshot) throws(AnnalsError) -> RowListContent {
    var query = try query(snapshot)
    if let sections = try sections?(snapshot) {
      query = ListQuery(
        query.rows, sections: (sections.path, sections.rule), order: sections.order)
    }
    let (found, sources) = (query, snapshot.listSources(try records?(snapshot)))
    let list = try snapshot.reader.planning {
      try QueryList(found, in: snapshot.reader.state, sources)
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
    let diff = try snapshot.reader.planning { try list.diff(fromOther: old, changes) }
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
