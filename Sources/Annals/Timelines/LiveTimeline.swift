import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsStorage
import Foundation

/// The rows of a timeline that stay current: first all rows, then an update for each change of
/// them, by whichever process.
///
///     for try await update in store.live(trips) { print(update.rows.count, update.diff) }
///
/// Ask about intervals through the state: `update.rows.snapshot.timeline(trips).intervals()`.
///
/// Missed transactions make one update. An update costs O(log n) for each changed object; O(n log
/// n) if dates, kinds or conditions come from other objects and one of those changed. With sections
/// it also costs O(sections × log n). What a row shows of another object (a label, a group) is not
/// a change of the row. Ends when the store is closed and when the task is cancelled.
public final class LiveTimeline: AsyncSequence, Sendable {
  /// The rows with their difference from the previous ones.
  public typealias Element = TimelineUpdate

  /// The current source, how often it was replaced, and how often the time was asked for anew.
  struct Shown: Sendable {
    var source: TimelineSource
    var revision = 0
    var tick = 0
  }

  let store: Store
  private let shown: Locked<Shown>

  init(_ store: Store, _ source: TimelineSource) {
    self.store = store
    shown = Locked(Shown(source: source))
  }

  var current: Shown { shown.withLock { $0 } }

  /// Replaces the timeline, in place: each iterator yields one update from its rows to the new
  /// ones. A change of the order alone makes few moves or many.
  public func change<R: Record>(to timeline: Timeline<R>) {
    replace { TimelineSource(timeline, $0.zone, $0.unit) }
  }

  /// Replaces the timeline by one defined by names; as the other form.
  public func change(
    to definition: TimelineDefinition, _ order: TimelineOrder = TimelineOrder()
  ) {
    replace { TimelineSource(definition, order, $0.zone, $0.unit) }
  }

  private func replace(_ source: (TimelineSource) -> TimelineSource) {
    shown.withLock { shown in
      shown.source = source(shown.source)
      shown.revision += 1
    }
    store.writer.head.wake()
  }

  /// Reads the clock: rows placed at the present time move. Each commit does so too. Has no effect
  /// if ongoing rows come after every date.
  public func tick() {
    shown.withLock { $0.tick += 1 }
    store.writer.head.wake()
  }

  /// The current rows, as of the newest transaction acknowledged here. O(n log n).
  public func rows() throws(AnnalsError) -> TimelineRowList {
    try current.source.rows(in: store.snapshot())
  }

  /// An iterator whose first update has the current rows.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// An iterator that continues from rows of this view.
  func makeIterator(from rows: TimelineRowList, _ shown: Shown) -> Iterator {
    Iterator(self, from: rows, shown)
  }

  /// Calls `body` with each update, including the first, one at a time and on no particular thread,
  /// while the returned observation is kept. An error is the last call.
  public func observe(
    _ body: @escaping @Sendable (Result<TimelineUpdate, AnnalsError>) -> Void
  ) -> LiveObservation {
    LiveObservation(of: self, body)
  }
}

extension LiveTimeline {
  /// Keeps the rows of the last update, and waits for changes of them.
  public struct Iterator: AsyncIteratorProtocol {
    private let view: LiveTimeline
    private var shown: TimelineRowList?
    private var revision = 0
    private var tick = 0
    /// Kept from the first wait on, so that other processes' commits arrive.
    private var listener: FeedListener?

    init(_ view: LiveTimeline) { self.view = view }

    init(_ view: LiveTimeline, from rows: TimelineRowList, _ shown: Shown) {
      self.view = view
      self.shown = rows
      (revision, tick) = (shown.revision, shown.tick)
    }

    /// The next update, once there is one; nil when the store is closed or the task cancelled.
    ///
    /// Throws if the rows cannot be read; the next call tries again.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AnnalsError) -> TimelineUpdate? {
      while !Task.isCancelled {
        let head = view.store.writer.head
        let newest = try head.feedPosition()
        if let update = try advance(newest.token) { return update }
        // What was committed meanwhile comes first.
        guard shown?.token == newest.token else { continue }
        if newest.isLast { return nil }
        if listener == nil {
          // Look once more for what came before the listener existed.
          listener = try view.store.writer.listen()
          continue
        }
        await head.wait(beyond: newest)
      }
      return nil
    }

    /// One step to the newest state; nil if it makes no update.
    private mutating func advance(_ newest: Token) throws(AnnalsError) -> TimelineUpdate? {
      let current = view.current
      guard let shown else {
        let rows = try current.source.rows(in: view.store.snapshot())
        (revision, tick, self.shown) = (current.revision, current.tick, rows)
        return TimelineUpdate(rows: rows, diff: rows.list.initialDiff(), isInitial: true)
      }
      let isSame = current.revision == revision
      guard !isSame || current.tick != tick || newest != shown.token else { return nil }
      let publication = view.store.writer.head.publication(after: shown.snapshot.position.number)
      let snapshot = publication.version.snapshot.with(clock: view.store.environment.clock)
      let changes = try publication.changes(
        from: shown.snapshot, to: snapshot, of: shown.list.entities)
      let update =
        try isSame
        ? current.source.step(from: shown, to: snapshot, changes)
        : current.source.rebuild(from: shown, to: snapshot, changes)
      (revision, tick, self.shown) = (current.revision, current.tick, update.rows)
      return update.diff.isEmpty ? nil : update
    }
  }
}

/// The source of a live timeline's rows, which resolves names in each state's own schema.
struct TimelineSource: Sendable {
  let definition: @Sendable (Snapshot) throws(AnnalsError) -> (TimelineDefinition, EntityNumber)
  let order: TimelineOrder
  let zone: TimeZone
  let unit: CalendarUnit?

  init<R: Record>(_ timeline: Timeline<R>, _ zone: TimeZone, _ unit: CalendarUnit?) {
    definition = { snapshot throws(AnnalsError) in
      let query = try snapshot._query(R.self)
      return (try query.definition(timeline), query.binding.entity)
    }
    order = timeline.order
    self.zone = zone
    self.unit = unit
  }

  init(
    _ definition: TimelineDefinition, _ order: TimelineOrder, _ zone: TimeZone,
    _ unit: CalendarUnit?
  ) {
    self.definition = { snapshot throws(AnnalsError) in
      try definition.condition?.requireUsableDepth()
      try definition.endCondition?.requireUsableDepth()
      return (definition, try snapshot.entity(everNamed: definition.entity).number)
    }
    self.order = order
    self.zone = zone
    self.unit = unit
  }

  /// The rows in a state. O(n log n).
  func rows(in snapshot: Snapshot) throws(AnnalsError) -> TimelineRowList {
    let (definition, entity) = try definition(snapshot)
    let query = ListQuery(TimelineQuery(definition, order, in: zone), of: entity, sections: unit)
    let list = try snapshot.reader.planning { () throws(QueryPlan.Failure) in
      try QueryList(query, in: snapshot.reader.state, sources(snapshot))
    }
    return TimelineRowList(snapshot: snapshot, list: list, zone: zone)
  }

  private func sources(_ snapshot: Snapshot) -> ListSources {
    ListSources(snapshot.reader.sources, snapshot.reader.largeBytes, clock: snapshot.clock)
  }

  /// The rows in another state, which differs in these objects alone.
  func step(
    from old: TimelineRowList, to snapshot: Snapshot, _ changes: ListChanges
  ) throws(AnnalsError) -> TimelineUpdate {
    guard old.snapshot.bindings.schemaVersion == snapshot.bindings.schemaVersion else {
      // Names may have another meaning.
      return try rebuild(from: old, to: snapshot, changes)
    }
    var list = old.list
    let diff = try snapshot.reader.planning { () throws(QueryPlan.Failure) in
      try list.advance(to: snapshot.reader.state, changes, sources(snapshot))
    }
    return TimelineUpdate(
      rows: TimelineRowList(snapshot: snapshot, list: list, zone: zone), diff: diff,
      isInitial: false)
  }

  /// As `step`, from the rows of another source.
  func rebuild(
    from old: TimelineRowList, to snapshot: Snapshot, _ changes: ListChanges
  ) throws(AnnalsError) -> TimelineUpdate {
    let rows = try rows(in: snapshot)
    var list = rows.list
    let diff = try snapshot.reader.planning { () throws(QueryPlan.Failure) in
      try list.diff(fromOther: old.list, changes)
    }
    return TimelineUpdate(rows: rows, diff: diff, isInitial: false)
  }
}

extension Store {
  /// The rows of a timeline that stay current; see `LiveTimeline`.
  ///
  /// - Parameters:
  ///   - timeline: what to show of the objects, and in what order.
  ///   - unit: the calendar unit of sections; ongoing rows after every date have one of their own.
  ///     Nil for no sections.
  ///   - zone: the time zone for counting and writing times.
  /// - Returns: a view that reads nothing yet; its iterators throw as `Snapshot.timeline(_:)` does.
  public func live<R: Record>(
    _ timeline: Timeline<R>, sections unit: CalendarUnit? = nil, in zone: TimeZone = .gmt
  ) -> LiveTimeline {
    LiveTimeline(self, TimelineSource(timeline, zone, unit))
  }

  /// The rows of a timeline defined by names, which stay current; as the other form.
  public func live(
    _ definition: TimelineDefinition, _ order: TimelineOrder = TimelineOrder(),
    sections unit: CalendarUnit? = nil, in zone: TimeZone = .gmt
  ) -> LiveTimeline {
    LiveTimeline(self, TimelineSource(definition, order, zone, unit))
  }
}
