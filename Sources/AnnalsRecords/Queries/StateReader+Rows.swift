import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

extension StateReader {
  /// The rows of the objects that meet the condition, in the order of the keys and then of the
  /// rows: rising, or falling if the query says so.
  ///
  /// With an index O(log n) and the objects read, otherwise O(objects). If no index has the order
  /// of the keys, O(n log n) of the objects found.
  package func rows(_ query: RowQuery) throws(AnnalsError) -> [Int64] {
    let plan = try plan(query)
    let rows = try planning { try plan.rows() }
    guard !plan.isInOrder else { return rows }
    let order = try order(query)
    return try planning { try order.sorted(rows, offset: query.offset, limit: query.limit) }
  }

  /// The objects in these rows, as far as there are any.
  package func objects(_ rows: [Int64], of entity: Entity) throws(AnnalsError) -> [DynamicObject] {
    var result: [DynamicObject] = []
    for row in rows {
      if let object = try object(row, of: entity) { result.append(object) }
    }
    return result
  }

  /// The order of a query. Throws `.invalidArgument` for a path that leads to neither an attribute
  /// nor a to-one relationship.
  package func order(_ query: RowQuery) throws(AnnalsError) -> RowOrder {
    let largeValues = largeValues
    return try planning {
      try RowOrder(
        query.keys, areTiesDescending: query.areTiesDescending, of: query.entity, in: state
      ) { try largeValues.bytesLeft(of: $0) }
    }
  }

  /// How many objects a query finds. O(log n) if an index covers its condition.
  func count(_ query: RowQuery) throws(AnnalsError) -> Int {
    let plan = try plan(changing(query) { $0.keys = [] })
    let found = max(0, try planning { try plan.countAll() } - query.offset)
    return query.limit.map { min($0, found) } ?? found
  }

  /// How many of the objects in these rows exist and meet the condition.
  package func count(
    of condition: Condition, among rows: some Sequence<Int64>, of entity: EntityNumber
  ) throws(AnnalsError) -> Int {
    try condition.requireUsableDepth()
    return try planning {
      let bound = try BoundCondition(condition, over: entity, in: state, sources)
      return try rows.reduce(0) { sum, row in
        try state.contains(entity, row) && bound.matches(row) ? sum + 1 : sum
      }
    }
  }

  /// The plan of a query.
  package func plan(_ query: RowQuery) throws(AnnalsError) -> QueryPlan {
    try planning { try QueryPlan(query, in: state, sources) }
  }

  /// What evaluating conditions over this state needs.
  package var sources: ConditionSources {
    let largeValues = largeValues
    return ConditionSources(
      largeValue: { try largeValues.bytes(of: $0) },
      removingDiacritics: String.removingDiacritics)
  }

  /// Runs `body` and translates failures of a query over this state into public errors. What a past
  /// state does not have is named with its number.
  package func planning<T>(_ body: () throws -> T) throws(AnnalsError) -> T {
    do {
      return try body()
    } catch {
      throw .translated(error, asOf: pastNumber)
    }
  }
}
