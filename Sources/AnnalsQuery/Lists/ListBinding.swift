import AnnalsModel
import AnnalsState

/// What a list reads besides the state.
package struct ListSources: Sendable {
  package var conditions: ConditionSources
  package var largeBytes: LargeBytes
  /// What only records decide; their order counts more than all keys but the sections'. Nil for
  /// nothing.
  package var records: RecordWork?
  /// The time that counts as present, for timelines.
  package var clock: @Sendable () -> Timestamp

  package init(
    _ conditions: ConditionSources, _ largeBytes: @escaping LargeBytes,
    _ records: RecordWork? = nil, clock: @escaping @Sendable () -> Timestamp = { .min }
  ) {
    self.conditions = conditions
    self.largeBytes = largeBytes
    self.records = records
    self.clock = clock
  }
}

/// The condition and the order of a list's query, bound to a state. A class, so that copies of a
/// list, and what a step hands over, retain one object.
final class ListBinding: Sendable {
  let state: State
  let condition: BoundCondition
  let order: RowOrder
  let sources: ListSources
  /// What rows objects have; nil where each object is one row.
  let timeline: BoundTimeline?
  /// Whether records decide which rows are in the list, or their order.
  let asksRecords: Bool

  private init(
    _ state: State, _ condition: BoundCondition, _ order: RowOrder, _ sources: ListSources,
    _ timeline: BoundTimeline? = nil
  ) {
    self.state = state
    self.condition = condition
    self.order = order
    self.sources = sources
    self.timeline = timeline
    asksRecords = order.records != nil || sources.records?.filter != nil
  }

  /// Binds a query. Throws if a name is unknown, or has another type than the query needs.
  convenience init(
    _ query: ListQuery, in state: State, _ sources: ListSources
  ) throws(StateFault) {
    let entity = query.rows.entity
    let condition = try BoundCondition(
      query.rows.condition, over: entity, in: state, sources.conditions)
    let order = try RowOrder(
      query.rows.keys, areTiesDescending: query.rows.areTiesDescending, of: entity,
      in: state, records: sources.records, behind: query.sections == nil ? 0 : 1,
      sources.largeBytes)
    if case .calendar = query.sections, let path = query.rows.keys.first?.path {
      try order.requireDates(path)
    }
    var timeline: BoundTimeline?
    if let query = query.timeline {
      timeline = try BoundTimeline(query, in: state, sources.conditions, now: sources.clock())
    }
    self.init(state, condition, order, sources, timeline)
  }

  /// The same query bound to another state.
  func rebound(
    _ query: ListQuery, to newState: State, _ sources: ListSources
  ) throws(StateFault) -> ListBinding {
    if sources.records == nil, query.timeline == nil, newState.schema == state.schema,
      let condition = condition.rebound(to: newState, sources.conditions),
      let order = order.rebound(to: newState, sources.largeBytes)
    {
      return ListBinding(newState, condition, order, sources)
    }
    return try ListBinding(query, in: newState, sources)
  }

  /// The entries of an object that is in the list.
  func entries(of row: Int64) throws(StateFault) -> [ListEntry] {
    if let timeline { return timeline.entries(of: row, try timeline.standing(of: row)) }
    var block = RowBlock.none
    return try entry(ofMatching: row, &block).map { [$0] } ?? []
  }

  /// The entry of a row that meets the condition; nil if it does not. What only records decide is
  /// not asked. `block` is that of the row asked for before.
  func entry(
    ofMatching row: Int64, _ block: inout RowBlock
  ) throws(StateFault) -> ListEntry? {
    if !block.contains(row) { block = condition.block(of: row) }
    guard try condition.matches(row, in: block) else { return nil }
    return ListEntry(word: try order.word(of: row, in: block), row: row)
  }

  /// Whether a row has an object. `block` is that of the row asked for before.
  func contains(_ row: Int64, _ block: inout RowBlock) throws(StateFault) -> Bool {
    if !block.contains(row) { block = condition.block(of: row) }
    return try condition.contains(row, in: block)
  }

  /// Whether the record of a row is wanted.
  func wantsRecord(_ row: Int64) throws(StateFault) -> Bool {
    guard let filter = sources.records?.filter else { return true }
    return try !filter([row], state).isEmpty
  }
}

extension RowOrder: ListOrder {
  @inline(__always)
  package func precedes(_ a: ListEntry, _ b: ListEntry) throws(StateFault) -> Bool {
    try precedes(a, b, in: self)
  }

  /// Whether an entry here comes before an entry in the same order of another state.
  @inline(__always)
  func precedes(
    _ a: ListEntry, _ b: ListEntry, in other: RowOrder
  ) throws(StateFault) -> Bool {
    a.word != b.word ? a.word < b.word : try precedesBehindWords(a, b, in: other)
  }

  /// As `precedes`, of entries with equal words.
  @inline(never)
  private func precedesBehindWords(
    _ a: ListEntry, _ b: ListEntry, in other: RowOrder
  ) throws(StateFault) -> Bool {
    if haveEqualKeys(a.word, b.word) != true {
      let outcome = try outcome(a.row, b.row, in: other, from: isExact(a.word) ? 1 : 0)
      if outcome != .equal { return outcome == .less }
    }
    return areTiesDescending ? b.tie < a.tie : a.tie < b.tie
  }
}

extension RowOrder {
  /// The value of a row's first key; null without any.
  func firstValue(of row: Int64) throws(StateFault) -> Value {
    guard let key = keys.first else { return .null }
    return try withValues(of: row) { (view) throws(StateFault) in
      var value = Value.null
      try key.path.read(row, view) { cell, arena in value = cell.value(in: arena) }
      return value
    }
  }

  /// Whether the first key's values are days.
  var beginsWithDays: Bool {
    guard let key = keys.first, case .attribute(let attribute) = key.path.end else { return false }
    return attribute.type == .day
  }

  /// Throws if the first key's values are neither dates nor days.
  fileprivate func requireDates(_ path: PropertyPath) throws(StateFault) {
    guard let key = keys.first else { return }
    if case .attribute(let attribute) = key.path.end,
      [.date, .day, .any].contains(attribute.type)
    {
      return
    }
    throw .query(.unsuitable, "\"\(path)\" is no date, and has no buckets of the calendar")
  }
}
