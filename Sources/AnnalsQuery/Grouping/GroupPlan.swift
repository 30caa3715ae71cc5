import AnnalsModel
import AnnalsState

/// The plan of a grouping: counts the runs of an index, or reads the values of every object found.
package struct GroupPlan: Sendable {
  let group: GroupQuery
  let query: RowQuery
  let state: State
  let sources: ConditionSources
  /// Which of the objects found are wanted, where only records decide that.
  private let filter: RecordWork.Filter?
  /// How objects are found if their values are read.
  private let rows: QueryPlan
  private let key: BoundPath?
  private let accumulators: [Accumulator]
  /// The index whose runs are counted.
  let runs: IndexRuns?
  private let isDescending: Bool
  private let areNilsFirst: Bool

  /// The number of rows read at once.
  private static let batchRows = 1_024

  /// The query's limit and offset count groups. Groups are ordered by key, in the direction of the
  /// query's first sort key if that is of the same value.
  package init(
    _ group: GroupQuery, of wanted: RowQuery, in state: State, _ sources: ConditionSources,
    records: RecordWork? = nil
  ) throws(StateFault) {
    var group = group
    let order = wanted.keys.first.flatMap { $0.path == group.path ? $0 : nil }
    if let path = group.path, try path.isReplacementIdle(wanted.entity, in: state) {
      group.key = group.key.with(path.replacing(nil))
    }
    let query = try wanted.withoutIdleReplacements(in: state)
    self.group = group
    filter = records?.filter
    self.query = query
    self.state = state
    self.sources = sources
    isDescending = order?.isDescending ?? false
    areNilsFirst = order?.areNilsFirst ?? true
    var all = query
    (all.keys, all.limit, all.offset) = ([], nil, 0)
    runs = filter == nil ? try IndexRuns(group, of: all, in: state) : nil
    // An index whose runs are counted need not serve the query otherwise.
    if runs != nil { all.indexes = .automatic }
    rows = try QueryPlan(all, in: state, sources)
    key = try group.path.map { (path) throws(StateFault) in
      try BoundPath(path, from: query.entity, in: state)
    }
    if case .bucket(let path, let unit, _) = group.key, let key {
      guard case .attribute(let attribute) = key.end,
        [.date, .day, .string, .any].contains(attribute.type)
      else {
        throw .query(
          .unsuitable, "nothing but dates and days is grouped by \(unit.rawValue): \(path)")
      }
    }
    var accumulators: [Accumulator] = []
    for aggregate in group.aggregates {
      accumulators.append(try Accumulator(aggregate, of: query.entity, in: state))
    }
    self.accumulators = accumulators
  }

  /// The groups. O(groups × log n) if the runs of an index are counted, otherwise O(objects found),
  /// with memory for the groups.
  package func groups() throws(StateFault) -> [GroupedRows] {
    if query.limit == 0 { return [] }
    var collected = Collected(keys: GroupKeys(group), accumulators: accumulators)
    if let runs, try runs.count(into: &collected, self) {
      return try results(collected)
    }
    collected = Collected(keys: GroupKeys(group), accumulators: accumulators)
    try read(into: &collected)
    return try results(collected)
  }

  /// The groups found so far.
  struct Collected {
    var keys: GroupKeys
    var counts: ContiguousArray<Int> = []
    var accumulators: [Accumulator]

    mutating func add(_ count: Int, to group: Int) {
      while counts.count <= group { counts.append(0) }
      counts[group] += count
    }
  }

  private func read(into collected: inout Collected) throws(StateFault) {
    guard let table = state.table(query.entity) else { return }
    var batch = CellBatch()
    var groups: ContiguousArray<Int> = []
    try forEachBatch { found throws(StateFault) in
      let rows = try filter?(found, state) ?? found
      groups.removeAll(keepingCapacity: true)
      if let key {
        try batch.read(key, of: rows, in: table)
        for cell in batch.cells {
          let group = try self.group(of: cell, in: batch, &collected.keys)
          collected.add(1, to: group)
          groups.append(group)
        }
      } else {
        groups.append(contentsOf: repeatElement(0, count: rows.count))
        collected.add(rows.count, to: 0)
      }
      for index in collected.accumulators.indices {
        collected.accumulators[index].resize(to: collected.counts.count)
        try batch.read(collected.accumulators[index].path, of: rows, in: table)
        try collected.accumulators[index].add(batch, to: groups, sources)
      }
    }
  }

  private func forEachBatch(
    _ body: (ContiguousArray<Int64>) throws(StateFault) -> Void
  ) throws(StateFault) {
    var batch: ContiguousArray<Int64> = []
    batch.reserveCapacity(GroupPlan.batchRows)
    var failure: StateFault?
    try rows.forEachRow { row in
      batch.append(row)
      guard batch.count == GroupPlan.batchRows else { return true }
      do throws(StateFault) {
        try body(batch)
      } catch {
        failure = error
        return false
      }
      batch.removeAll(keepingCapacity: true)
      return true
    }
    if let failure { throw failure }
    if !batch.isEmpty { try body(batch) }
  }

  func group(
    of cell: ValueCell, in batch: CellBatch, _ keys: inout GroupKeys
  ) throws(StateFault) -> Int {
    try sources.withWhole(cell, in: batch.arena) { keys.group(of: $0, in: $1) }
  }

  /// The groups in order, after limit and offset.
  private func results(_ collected: Collected) throws(StateFault) -> [GroupedRows] {
    guard key != nil else {
      var all = collected
      all.add(0, to: 0)
      return Array(try [result(0, .value(.null), &all)].dropFirst(query.offset))
    }
    var collected = collected
    let cells = (0..<collected.keys.count).map { ($0, collected.keys.cell($0)) }
    let order = cells.sorted { a, b in
      if a.1.cell.isNull || b.1.cell.isNull {
        return a.1.cell.isNull != b.1.cell.isNull && a.1.cell.isNull == areNilsFirst
      }
      let (a, b) = isDescending ? (b.1, a.1) : (a.1, b.1)
      return b.bytes.withUnsafeBufferPointer {
        a.outcome(b.cell, in: UnsafeRawBufferPointer($0)) == .less
      }
    }
    var results: [GroupedRows] = []
    for (group, _) in order.dropFirst(query.offset).prefix(query.limit ?? .max) {
      results.append(try result(group, collected.keys.key(group), &collected))
    }
    return results
  }

  private func result(
    _ group: Int, _ key: GroupedRows.Key, _ collected: inout Collected
  ) throws(StateFault) -> GroupedRows {
    var values: [Value] = []
    for index in collected.accumulators.indices {
      collected.accumulators[index].resize(to: group + 1)
      values.append(try collected.accumulators[index].value(group))
    }
    return GroupedRows(key: key, count: collected.counts[group], values: values)
  }
}

extension GroupPlan: CustomStringConvertible {
  /// The plan in words, as `QueryPlan` has it.
  package var description: String {
    guard let runs else { return rows.description + "\nthen grouped" }
    return "counts groups by index `\(runs.path.name)`: \(runs.path.count) of "
      + "\(state.count(of: query.entity)) objects"
  }
}
