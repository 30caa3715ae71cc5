import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension ObjectSource {
  /// The objects that the fetch finds, in groups; see `groups(_:by:)`.
  func grouped<R: Record, Key, each A>(
    _ fetch: Fetch<R>, by key: RecordGroupKey<R, Key>,
    _ aggregate: repeat RecordAggregate<R, each A>
  ) throws(AnnalsError) -> [RecordGroup<Key, (repeat each A)>] {
    let query = try _query(R.self)
    let found = try query.groups(fetch, by: key.key, RecordQuery.list(repeat each aggregate))
    var result: [RecordGroup<Key, (repeat each A)>] = []
    for group in found {
      let values = try query.values(group, repeat each aggregate)
      result.append(
        RecordGroup(key: try query.key(key, group), count: group.count, values: values))
    }
    return result
  }

  /// Aggregates over all objects that the fetch finds, ignoring its limit and offset: `try
  /// snapshot.aggregate(foggy, .sum(\.views), .average(\.rating))`.
  ///
  /// O(objects found). Throws as `groups(_:by:)` does.
  public func aggregate<R: Record, each A>(
    _ fetch: Fetch<R>, _ aggregate: repeat RecordAggregate<R, each A>
  ) throws(AnnalsError) -> (repeat each A) {
    try aggregated(fetch, repeat each aggregate)
  }

  /// One aggregate over all objects that the fetch finds, as the other form.
  public func aggregate<R: Record, A>(
    _ fetch: Fetch<R>, _ aggregate: RecordAggregate<R, A>
  ) throws(AnnalsError) -> A {
    try aggregated(fetch, aggregate)
  }

  private func aggregated<R: Record, each A>(
    _ fetch: Fetch<R>, _ aggregate: repeat RecordAggregate<R, each A>
  ) throws(AnnalsError) -> (repeat each A) {
    let query = try _query(R.self)
    let groups = try query.groups(
      fetch.limit(nil).offset(0), by: nil, RecordQuery.list(repeat each aggregate))
    let all = groups.first ?? GroupedRows(key: .value(.null), count: 0, values: [])
    return try query.values(all, repeat each aggregate)
  }

  /// The objects that the fetch finds, in groups, with the count and the aggregates of each, as for
  /// a fetch of records. Without a key all objects are one group.
  public func groups(
    _ fetch: DynamicFetch, by key: GroupKey?, _ aggregates: [Aggregate] = []
  ) throws(AnnalsError) -> [DynamicGroup] {
    let query = try _dynamicQuery.query(fetch).query
    let group = GroupQuery(key.map { $0.query($0.path) } ?? .all, aggregates)
    return try _dynamicQuery.reader.groups(group, of: query).map { group in
      let key: DynamicGroup.Key
      switch group.key {
      case .value(let value): key = .value(value)
      case .bucket(let bucket): key = .bucket(bucket)
      }
      return DynamicGroup(key: key, count: group.count, values: group.values)
    }
  }

  /// How the groups are made, in words, as `explain(_:)` does for objects.
  public func explain<R: Record, Key, each A>(
    _ fetch: Fetch<R>, groupedBy key: RecordGroupKey<R, Key>,
    _ aggregate: repeat RecordAggregate<R, each A>
  ) throws(AnnalsError) -> String {
    let query = try _query(R.self)
    let (group, _) = try query.grouping(by: key.key, RecordQuery.list(repeat each aggregate))
    let plan = try query.reader.plan(group, of: query.plannedQuery(fetch), query.work(fetch))
    return fetch.recordWork.map { "\(plan)\n\($0)" } ?? plan.description
  }

  /// How the groups are made, in words, as `explain(_:)` does for objects.
  public func explain(
    _ fetch: DynamicFetch, groupedBy key: GroupKey?, _ aggregates: [Aggregate] = []
  ) throws(AnnalsError) -> String {
    let query = try _dynamicQuery.query(fetch).query
    let group = GroupQuery(key.map { $0.query($0.path) } ?? .all, aggregates)
    return try _dynamicQuery.reader.plan(group, of: query).description
  }
}

extension RecordQuery {
  /// The groups of a fetch's objects; without a key one group.
  fileprivate func groups(
    _ fetch: Fetch<R>, by key: GroupKey?, _ aggregates: [Aggregate]
  ) throws(AnnalsError) -> [GroupedRows] {
    let query = try plannedQuery(fetch)
    guard reader.state.count(of: binding.entity) > 0 else {
      if key != nil { return [] }
      return [GroupedRows(key: .value(.null), count: 0, values: aggregates.map(\.valueOfNone))]
    }
    let (group, places) = try grouping(by: key, aggregates)
    return try reader.groups(group, of: query, work(fetch)).filter { key == nil || $0.count > 0 }
      .map { found in
        var whole = found
        whole.values = zip(places, aggregates).map { place, aggregate in
          place.map { found.values[$0] } ?? aggregate.valueOfNone
        }
        return whole
      }
  }

  /// The grouping with the state's own names, and which of its aggregates each of these is; nil for
  /// one of a property that did not exist then.
  fileprivate func grouping(
    by key: GroupKey?, _ aggregates: [Aggregate]
  ) throws(AnnalsError) -> (GroupQuery, places: [Int?]) {
    var group = GroupQuery(.all)
    // A property that did not exist then is nil in every object.
    if let key, let path = try path(key.path) { group.key = key.query(path) }
    var places: [Int?] = []
    for var aggregate in aggregates {
      guard let path = try path(aggregate.path) else {
        places.append(nil)
        continue
      }
      aggregate.path = path
      places.append(group.aggregates.count)
      group.aggregates.append(aggregate)
    }
    return (group, places)
  }

  fileprivate static func list<each A>(
    _ aggregate: repeat RecordAggregate<R, each A>
  ) -> [Aggregate] {
    var list: [Aggregate] = []
    repeat list.append((each aggregate).aggregate)
    return list
  }

  /// What a group's objects have in common.
  fileprivate func key<Key>(
    _ key: RecordGroupKey<R, Key>, _ group: GroupedRows
  ) throws(AnnalsError) -> Key {
    guard let read = key.read(group.key, reader.store) else {
      throw unreadable("\(key.key.path)", group.key, Key.self)
    }
    return read
  }

  /// The results of a group's aggregates.
  fileprivate func values<each A>(
    _ group: GroupedRows, _ aggregate: repeat RecordAggregate<R, each A>
  ) throws(AnnalsError) -> (repeat each A) {
    var index = 0
    return (repeat try value(each aggregate, group, &index))
  }

  /// The result of the next of a group's aggregates.
  fileprivate func value<A>(
    _ aggregate: RecordAggregate<R, A>, _ group: GroupedRows, _ index: inout Int
  ) throws(AnnalsError) -> A {
    let value = group.values[index]
    index += 1
    guard let read = aggregate.read(value, reader.store) else {
      throw unreadable("\(aggregate.aggregate)", .value(value), A.self)
    }
    return read
  }

  fileprivate func unreadable(
    _ name: String, _ key: GroupedRows.Key, _ type: any Any.Type
  ) -> AnnalsError {
    let found = if case .value(let value) = key { value.shortDescription } else { "a date" }
    return AnnalsError(
      .unreadableRecord, "\(binding.layout.entityName).\(name) is \(found), which is no \(type)")
  }
}

extension Aggregate {
  /// The result if no object has a value.
  fileprivate var valueOfNone: Value { function == .count ? .int(0) : .null }
}

extension StateReader {
  fileprivate func groups(
    _ group: GroupQuery, of query: RowQuery, _ records: RecordWork? = nil
  ) throws(AnnalsError) -> [GroupedRows] {
    let plan = try plan(group, of: query, records)
    return try planning { try plan.groups() }
  }

  fileprivate func plan(
    _ group: GroupQuery, of query: RowQuery, _ records: RecordWork? = nil
  ) throws(AnnalsError) -> GroupPlan {
    try planning { try GroupPlan(group, of: query, in: state, sources, records: records) }
  }
}
