import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension Snapshot {
  /// Opaque.
  public func _query<R: Record>(_ type: R.Type) throws(AnnalsError) -> RecordQuery<R> {
    RecordQuery(
      reader: reader, binding: try bindings.binding(of: type), newest: bindings.schema)
  }
}

extension WriteTransaction {
  /// Opaque.
  public func _query<R: Record>(_ type: R.Type) throws(AnnalsError) -> RecordQuery<R> {
    try draft.mergePendingEntries()
    return RecordQuery(reader: reader, binding: try binding(of: type), newest: schema)
  }
}

extension ObjectSource {
  /// The objects that the fetch finds, in its order.
  ///
  /// In a past state, properties have the names of that time, and one that did not exist is nil, or
  /// its default if it is required.
  /// Without an index costs O(objects of the entity), and with sort keys O(n log n) of those found.
  /// Throws `.invalidSchema` if the store has no such entity, `.invalidArgument` for values that
  /// cannot be compared, `.otherStore` for an object of another store, and
  /// as `object(_:_:)` does.
  public func fetch<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> [Object<R>] {
    let query = try _query(R.self)
    if fetch.hasRecordWork { return try query.testedObjects(fetch) }
    return try query.objects(try query.rows(fetch))
  }

  /// The ids of the objects that the fetch finds, in its order; throws as `fetch(_:)` does.
  public func objectIDs<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> [ObjectID] {
    let query = try _query(R.self)
    let (store, entity) = (query.reader.store, query.binding.entity)
    return try query.rows(fetch).map { ObjectID(store: store, entity: entity, row: $0) }
  }

  /// How many objects `fetch(_:)` would return, with its limit and offset; throws as that does.
  public func count<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> Int {
    try _query(R.self).count(fetch)
  }

  /// The first of the objects that the fetch finds; nil if there is none. Throws as `fetch(_:)`
  /// does.
  public func first<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> Object<R>? {
    guard fetch.maximumCount != 0 else { return nil }
    return try self.fetch(fetch.limit(1)).first
  }

  /// Whether the fetch finds any object; throws as `fetch(_:)` does.
  public func exists<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> Bool {
    guard fetch.maximumCount != 0 else { return false }
    var unsorted = fetch.limit(1)
    unsorted.sortKeys = []
    unsorted.recordOrder = []
    return try !_query(R.self).rows(unsorted).isEmpty
  }

  /// How the fetch is executed, in words: which index is used and how many objects are read, why
  /// other indexes are not, and which would help. For people; the words may change.
  public func explain<R: Record>(_ fetch: Fetch<R>) throws(AnnalsError) -> String {
    let query = try _query(R.self)
    let plan = try query.reader.plan(try query.plannedQuery(fetch)).description
    return fetch.recordWork.map { "\(plan)\n\($0)" } ?? plan
  }

  /// The objects of the record type that meet the condition, all without one, in the order of the
  /// keys:
  ///
  ///     try snapshot.objects(
  ///       of: Event.self, where: \.start > .now && \.place == kyoto,
  ///       sortedBy: .descending(\.start), limit: 50)
  ///
  /// Throws as `fetch(_:)` does.
  public func objects<R: Record>(
    of type: R.Type, where condition: RecordCondition<R>? = nil,
    sortedBy keys: RecordSortKey<R>...,
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [Object<R>] {
    var fetch = Fetch(type).where(condition).limit(limit).offset(offset)
    fetch.sortKeys = keys
    return try self.fetch(fetch)
  }

  /// The objects of the record type that meet the condition, all without one, sorted by a property:
  ///
  ///     try snapshot.objects(of: Event.self, sortedBy: \.start, .descending)
  ///
  /// Throws as `fetch(_:)` does.
  public func objects<R: Record, V: AttributeValue>(
    of type: R.Type, where condition: RecordCondition<R>? = nil, sortedBy keyPath: KeyPath<R, V>,
    _ direction: SortDirection = .ascending, limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [Object<R>] {
    try fetch(
      Fetch(type).where(condition).sorted(by: keyPath, direction).limit(limit).offset(offset))
  }

  /// How many objects of the record type meet the condition; throws as `fetch(_:)` does.
  public func count<R: Record>(
    of type: R.Type, where condition: RecordCondition<R>?
  ) throws(AnnalsError) -> Int { try count(Fetch(type).where(condition)) }
}

extension WriteTransaction {
  /// Updates every object that meets the condition, in id order, as `update(_:_:)` does with one;
  /// nil means all. The objects are determined before the first is changed.
  ///
  /// Returns how many there are, changed by `body` or not. Throws as `fetch(_:)` and `update(_:_:)`
  /// do; then earlier ones are changed.
  @discardableResult
  public func update<R: Record>(
    _ type: R.Type, where condition: RecordCondition<R>?, _ body: (inout R) throws -> Void
  ) throws -> Int {
    let ids = try objectIDs(Fetch(type).where(condition))
    for id in ids { try update(type, id, body) }
    return ids.count
  }

  /// Deletes every object that meets the condition; nil means all.
  ///
  /// Returns how many were deleted. Throws as `fetch(_:)` and `delete(_:)` do.
  @discardableResult
  public func delete<R: Record>(
    _ type: R.Type, where condition: RecordCondition<R>?
  ) throws(AnnalsError) -> Int {
    let ids = try objectIDs(Fetch(type).where(condition))
    for id in ids { try delete(id) }
    return ids.count
  }
}
