import Annals
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// A query that a request describes: entity, condition and order, over the state at a moment.
struct QueryAsking {
  let snapshot: Snapshot
  let entity: Entity
  let fetch: DynamicFetch
  private let query: RowQuery
  private let key: RowLists.Key
  private let lists: RowLists

  init(_ asking: Asking, _ store: OpenedStore, sorts: Bool = true) throws {
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
    let texts = OptionTexts(over: entity, in: snapshot)
    var fetch = DynamicFetch(entity.name)
    var (condition, keys) = (Condition.always, [SortKey]())
    if let text = parameters["where"] {
      condition = try texts.condition(text, of: "where", zone: store.zone, now: store.now)
      fetch = fetch.where(condition)
    }
    if sorts, let text = parameters["sort"] {
      keys = try texts.sortKeys(text, of: "sort")
      fetch = fetch.sorted(by: keys)
    }
    self.fetch = fetch
    query = RowQuery(
      entity: entity.number, condition: condition, keys: keys,
      areTiesDescending: keys.last?.isDescending ?? false)
    // A condition with `now` in it is another one at another time.
    key = RowLists.Key(
      generation: store.generation, number: snapshot.number, entity: entity.number,
      condition: "\(condition)", sort: parameters["sort"] ?? "")
    lists = store.lists
  }

  /// How the query is executed, a line each; checks the condition.
  func plan() throws -> [String] {
    try snapshot.explain(fetch).split(separator: "\n").map(String.init)
  }

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
