import Annals
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// A query that a request describes: entity, condition and order, over the state at a moment.
struct QueryAsking {
  let snapshot: Snapshot
  let entity: Entity
  let fetch: DynamicFetch
  /// What groups are made by; nil without them.
  let groupKey: GroupKey?
  private let query: RowQuery
  private let key: RowLists.Key
  private let lists: RowLists

  /// The objects that a request asks for, or their groups.
  init(_ asking: Asking, _ store: OpenedStore, grouped: Bool = false) throws {
    let parameters = asking.parameters
    snapshot = try asking.snapshot(of: store)
    let name = try parameters.required("entity")
    guard let found = snapshot.schema.entity(named: name) else {
      var fault = RequestFault(
        AnnalsError.unknownEntity(
          name, in: snapshot.schema, asOf: snapshot.isOfOlderSchema ? snapshot.number : nil
        ).message, .notFound, parameter: "entity")
      if store.store.schema.entity(named: name) != nil {
        fault.message += "; it came later"
      }
      throw fault
    }
    entity = found
    var request = QueryRequest()
    request.condition = parameters["where"]
    if grouped {
      request.groupBy = try parameters.required("by")
    } else {
      request.sort = parameters["sort"]
    }
    fetch = try request.fetch(entity, in: snapshot, zone: store.zone, now: store.now)
    groupKey = try request.groupKey(entity, in: snapshot.schema, zone: store.zone)
    let condition = fetch.condition ?? .always
    query = RowQuery(
      entity: entity.number, condition: condition, keys: fetch.sortKeys,
      areTiesDescending: fetch.sortKeys.last?.isDescending ?? false)
    // A condition with `now` in it is another one at another time.
    key = RowLists.Key(
      generation: store.generation, number: snapshot.number, entity: entity.number,
      condition: "\(condition)", sort: parameters["sort"] ?? "")
    lists = store.lists
  }

  /// How the query is executed; checks the condition.
  func plan() throws -> String { try snapshot.explain(fetch) }

  /// How many objects there are, and how many of them are found.
  func counts() throws -> (total: Int, all: Int) {
    let all = snapshot.reader.state.count(of: entity.number)
    if let kept = lists[key] { return (kept.count, all) }
    return (query.condition == .always ? all : try snapshot.count(fetch), all)
  }

  /// The rows of a page. Those of a query that must read or sort all objects are kept for the next
  /// page.
  func rows(offset: Int, limit: Int, _ total: Int) throws -> ContiguousArray<Int64> {
    if let kept = lists[key] { return ContiguousArray(kept.dropFirst(offset).prefix(limit)) }
    let isCheap =
      query.condition == .always ? try snapshot.reader.plan(query).isInOrder : false
    if isCheap || total > RowLists.longest {
      var page = query
      (page.offset, page.limit) = (offset, limit)
      return ContiguousArray(try snapshot.reader.rows(page))
    }
    let all = ContiguousArray(try snapshot.reader.rows(query))
    lists.keep(all, of: key)
    return ContiguousArray(all.dropFirst(offset).prefix(limit))
  }
}
