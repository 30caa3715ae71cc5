import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// A query for objects of a named entity: as `Fetch` for record types, for programs that learn the
/// schema at run time.
///
/// Names are those of the schema of the state that is queried.
public struct DynamicFetch: Hashable, Sendable {
  /// The name of the entity.
  public let entity: String
  package var condition: Condition?
  package var sortKeys: [SortKey] = []
  package var maximumCount: Int?
  package var skippedCount = 0
  package var indexes = IndexChoice.automatic

  /// All objects of the entity, in id order.
  public init(_ entity: String) {
    self.entity = entity
  }

  /// All of it at once.
  package init(
    _ entity: String, where condition: Condition?, sortedBy keys: [SortKey], _ limit: Int?,
    _ offset: Int
  ) {
    self = DynamicFetch(entity).where(condition).sorted(by: keys).limit(limit).offset(offset)
  }

  /// Keeps only objects that meet the condition, in addition to earlier ones; nil changes nothing.
  public func `where`(_ condition: Condition?) -> DynamicFetch {
    guard let condition else { return self }
    return changing(self) {
      $0.condition = self.condition.map { .all([$0, condition]) } ?? condition
    }
  }

  /// Sorts by these keys; earlier sort keys take precedence.
  public func sorted(by keys: SortKey...) -> DynamicFetch { sorted(by: keys) }

  /// Sorts by these keys; earlier sort keys take precedence.
  public func sorted(by keys: [SortKey]) -> DynamicFetch { changing(self) { $0.sortKeys += keys } }

  /// Returns at most so many objects. Traps if it is negative.
  public func limit(_ count: Int?) -> DynamicFetch {
    insist(count ?? 0 >= 0, "a limit is not negative")
    return changing(self) { $0.maximumCount = count }
  }

  /// Skips so many objects at the beginning. Traps if it is negative.
  public func offset(_ count: Int) -> DynamicFetch {
    insist(count >= 0, "an offset is not negative")
    return changing(self) { $0.skippedCount = count }
  }

  /// Uses the index of this name; fetching throws if it cannot serve. The result is the same.
  public func using(_ index: String) -> DynamicFetch {
    changing(self) { $0.indexes = .named(index) }
  }

  /// Reads all objects instead of using an index. The result is the same.
  public func withoutIndexes() -> DynamicFetch { changing(self) { $0.indexes = .none } }
}

/// A state to query. Opaque; public only as a result of a requirement of `ObjectSource`.
public struct DynamicQuery {
  let reader: StateReader
  /// Finds the entity of a name.
  fileprivate let entity: (String) throws(AnnalsError) -> Entity

  package func query(_ fetch: DynamicFetch) throws(AnnalsError) -> (entity: Entity, query: RowQuery)
  {
    let entity = try entity(fetch.entity)
    try fetch.condition?.requireUsableDepth()
    return (
      entity,
      RowQuery(
        entity: entity.number, condition: fetch.condition ?? .always, keys: fetch.sortKeys,
        areTiesDescending: fetch.sortKeys.last?.isDescending ?? false, limit: fetch.maximumCount,
        offset: fetch.skippedCount, indexes: fetch.indexes)
    )
  }
}

extension Snapshot {
  /// Opaque.
  public var _dynamicQuery: DynamicQuery {
    DynamicQuery(reader: reader) { name throws(AnnalsError) in try entity(everNamed: name) }
  }
}

extension WriteTransaction {
  /// Opaque.
  public var _dynamicQuery: DynamicQuery {
    get throws(AnnalsError) {
      try draft.mergePendingEntries()
      let reader = reader
      return DynamicQuery(reader: reader) { name throws(AnnalsError) in
        try reader.entity(named: name)
      }
    }
  }
}

extension ObjectSource {
  /// The objects that the fetch finds, in its order.
  ///
  /// Throws `.invalidArgument` for an unknown name, and for values that cannot be compared.
  public func fetch(_ fetch: DynamicFetch) throws(AnnalsError) -> [DynamicObject] {
    let reader = try _dynamicQuery.reader
    let (entity, query) = try _dynamicQuery.query(fetch)
    return try reader.objects(reader.rows(query), of: entity)
  }

  /// The ids of the objects that the fetch finds, in its order; throws as `fetch(_:)` does.
  public func objectIDs(_ fetch: DynamicFetch) throws(AnnalsError) -> [ObjectID] {
    let reader = try _dynamicQuery.reader
    let (entity, query) = try _dynamicQuery.query(fetch)
    return try reader.rows(query).map {
      ObjectID(store: reader.store, entity: entity.number, row: $0)
    }
  }

  /// How many objects `fetch(_:)` would return, with its limit and offset; throws as that does.
  public func count(_ fetch: DynamicFetch) throws(AnnalsError) -> Int {
    let query = try _dynamicQuery.query(fetch).query
    return try _dynamicQuery.reader.count(query)
  }

  /// How the fetch is executed, in words, as for a fetch of records.
  public func explain(_ fetch: DynamicFetch) throws(AnnalsError) -> String {
    try _dynamicQuery.reader.plan(_dynamicQuery.query(fetch).query).description
  }
}
