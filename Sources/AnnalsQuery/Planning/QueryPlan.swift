import AnnalsModel
import AnnalsState

/// The plan of a query in one state: an index, or reading all objects.
package struct QueryPlan: Sendable {
  let query: RowQuery
  private let condition: BoundCondition
  /// The index that serves; nil if none does.
  let path: IndexPath?
  /// The indexes that do not serve, with their costs; nil if they cannot help the query.
  let others: [(name: String, cost: Double?)]
  /// How many objects there are.
  let count: Int
  let entity: Entity

  /// Chooses the cheapest plan. O(log n) for each index that can help the query.
  ///
  /// The condition must suit the entity; a named index must exist.
  package init(
    _ given: RowQuery, in state: State, _ sources: ConditionSources
  ) throws(StateFault) {
    let query = try given.withoutIdleReplacements(in: state)
    self.query = query
    count = Int(state.count(of: query.entity))
    entity = state.schema.entity(numbered: query.entity) ?? Entity("")
    // All of it, so that what does not suit is refused whatever the plan.
    let all = try BoundCondition(query.condition, over: query.entity, in: state, sources)
    let implied = try QueryPlan.implied(query, entity, in: state, sources)
    let entity = entity
    let related = try RelatedPath.all(query, entity, in: state, sources)
    let (path, others) = try QueryPlan.choose(query, entity, implied, related, in: state)
    (self.path, self.others) = (path, others)
    if let path {
      condition = try BoundCondition(path.rest, over: query.entity, in: state, sources)
    } else {
      condition = all
    }
    if case .named(let name) = query.indexes, path == nil {
      throw .query(
        .noSuchIndex, "no index `\(name)` serves this query; leave the choice to the store")
    }
  }

  private static func choose(
    _ query: RowQuery, _ entity: Entity, _ implied: [Condition], _ related: [RelatedPath],
    in state: State
  ) throws(StateFault) -> (IndexPath?, [(name: String, cost: Double?)]) {
    guard query.indexes != .none else { return (nil, []) }
    var best: (path: IndexPath, cost: Double)?
    var others: [(name: String, cost: Double?)] = []
    for related in related {
      let cost = related.path.cost(query)
      if cost < best?.cost ?? .infinity { best = (related.path, cost) }
    }
    for shape in entity.keptShapes {
      let name = entity.name(of: shape)
      if case .named(let named) = query.indexes, !named.hasSameBytes(as: name) { continue }
      guard
        let path = try IndexPath.serving(
          query, shape, name: name, of: entity, in: state, implied: implied)
      else {
        // Nobody declared a reference index, or wonders why it does not help.
        if IndexKind.defined.contains(shape.kind) { others.append((name, nil)) }
        continue
      }
      let cost = path.cost(query)
      if let best, best.cost <= cost {
        others.append((name, cost))
      } else {
        if let best, best.path.related == nil { others.append((best.path.name, best.cost)) }
        best = (path, cost)
      }
    }
    guard let best else { return (nil, others) }
    if case .named = query.indexes { return (best.path, others) }
    // Who asks each owner may read everything that they lead to.
    let asking = related.reduce(0) { $0 + $1.askingCost }
    if best.cost < query.scanCost(Double(state.count(of: query.entity))) + asking {
      return (best.path, others)
    }
    return (nil, best.path.related == nil ? others + [(best.path.name, best.cost)] : others)
  }

  /// Whether `rows` gives them in the order that is wanted.
  package var isInOrder: Bool {
    guard let path else { return query.keys.isEmpty }
    return path.order != .none || query.keys.isEmpty
  }

  /// How many rows the query finds, limit and offset left out. O(log n) if the index says all that
  /// the condition does.
  package func countAll() throws(StateFault) -> Int {
    if condition.constant == false { return 0 }
    if condition.constant == true {
      guard let search = path?.search else { return path?.count ?? count }
      return try search.count()
    }
    var result = 0
    try forEachRow { _ in
      result += 1
      return true
    }
    return result
  }

  /// The rows: all that are found if they must still be sorted; otherwise in order, after limit and
  /// offset.
  package func rows() throws(StateFault) -> [Int64] {
    if query.limit == 0 { return [] }
    var rows: [Int64] = []
    guard isInOrder else {
      try forEachRow {
        rows.append($0)
        return true
      }
      return rows
    }
    if condition.constant == true, let path, path.order != .none {
      return try orderedRows(of: path)
    }
    // Rows that come by number are sorted at the end, or read so.
    let isSorted = path.map { $0.order != .none } ?? !query.areTiesDescending
    let most = isSorted ? query.most ?? .max : .max
    try forEachRow {
      rows.append($0)
      return rows.count < most
    }
    if !isSorted {
      if path != nil { rows.sortRows() }
      if query.areTiesDescending { rows.reverse() }
    }
    guard query.offset > 0 || query.limit != nil else { return rows }
    return Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
  }

  /// The rows if the index covers the condition: reads only those within limit and offset.
  private func orderedRows(of path: IndexPath) throws(StateFault) -> [Int64] {
    let isBackward = path.order == .backward
    var skipped = query.offset
    var wanted = query.limit ?? .max
    var rows: [Int64] = []
    for places in isBackward ? path.places.reversed() : path.places {
      let passed = min(skipped, places.count)
      let count = min(wanted, places.count - passed)
      let first = isBackward ? places.upperBound - passed - count : places.lowerBound + passed
      let found = try path.view.rows(
        in: first..<first + count, isBackward: isBackward, reversesTies: path.reversesTies)
      if rows.isEmpty { rows = found } else { rows += found }
      skipped -= passed
      wanted -= count
      if wanted == 0 { break }
    }
    return rows
  }

  /// Whether an object meets the conditions that the index does not cover.
  private func matches(_ row: Int64) throws(StateFault) -> Bool {
    if let constant = condition.constant { return constant }
    return try condition.matches(row)
  }

  /// Calls `body` with the rows in the order in which they are found, while it returns true.
  func forEachRow(_ body: (Int64) -> Bool) throws(StateFault) {
    if condition.constant == false { return }
    guard let path else {
      return try condition.forEachRow(body)
    }
    if let search = path.search {
      let rows = try search.rows()
      for row in rows where try matches(row) {
        guard body(row) else { return }
      }
      return
    }
    let isBackward = path.order == .backward
    var goesOn = true
    for places in isBackward ? path.places.reversed() : path.places {
      try path.view.forEachRow(
        in: places, isBackward: isBackward, reversesTies: path.reversesTies
      ) { row throws(StateFault) in
        if try !matches(row) { return true }
        goesOn = body(row)
        return goesOn
      }
      guard goesOn else { return }
    }
  }
}

extension RowQuery {
  /// What putting so many rows in order costs, in objects read.
  static func sortingCost(_ count: Double, _ query: RowQuery) -> Double {
    guard !query.keys.isEmpty, count > 1 else { return 0 }
    return count * (8 + count.exponent2)
  }

  /// What reading all objects costs. How many will be found is not known: all, at worst.
  func scanCost(_ count: Double) -> Double {
    count + RowQuery.sortingCost(count, self)
  }
}

extension Double {
  /// The whole part of the logarithm to base 2.
  fileprivate var exponent2: Double { Double(exponent) }
}

extension Entity {
  /// The name of an index: its own, or that of the unique attribute.
  func name(of shape: IndexShape) -> String {
    indexes.first { $0.number == shape.number }?.name
      ?? propertyName(shape.number) ?? ""
  }
}
