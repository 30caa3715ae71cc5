import AnnalsEngine
import AnnalsModel

/// The result of a fetch, or a timeline, that stays current: first all rows, then an update for
/// each change of them, by whichever process.
///
///     for try await update in store.live(Fetch(Event.self).sorted(by: \.start)) {
///       print(update.rows.count, update.diff)
///     }
///
/// Each iterator begins with the current rows. An update costs O(log n) for each changed object,
/// and for each object that refers to a changed one through a condition, a sort key or a date; with
/// a limit or an offset also O(rows shown). Transactions that do not change the rows make no
/// update. Ends when the store is closed and when the task is cancelled. While an iterator is in
/// use, the file is watched for other processes' commits.
public final class LiveView<Row: Sendable>: AsyncSequence, Sendable {
  /// The rows with their difference from the previous ones.
  public typealias Element = LiveUpdate<Row>

  let core: LiveCore
  let read: RowList<Row>.Reader

  init(
    _ store: Store, _ source: LiveSource, _ read: @escaping RowList<Row>.Reader,
    _ delivery: LiveDelivery = .latest, _ condition: HistoryCondition = .always
  ) {
    core = LiveCore(store, source, delivery, condition)
    self.read = read
  }

  /// The current rows, as of the newest transaction acknowledged here. O(n log n).
  public func rows() throws(AnnalsError) -> RowList<Row> {
    RowList(try core.current.source.rows(in: core.store.snapshot()), read)
  }

  /// An iterator whose first update has the current rows.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveCursor(core), read) }

  /// The current rows, and an iterator that continues from them.
  func begin() throws(AnnalsError) -> (rows: RowList<Row>, updates: Iterator) {
    let current = core.current
    let rows = try current.source.rows(in: core.store.snapshot())
    return (RowList(rows, read), Iterator(LiveCursor(core, from: rows, current), read))
  }

  /// Calls `body` with each update, including the first, one at a time and on no particular thread,
  /// while the returned observation is kept. An error is the last call.
  public func observe(
    _ body: @escaping @Sendable (Result<LiveUpdate<Row>, AnnalsError>) -> Void
  ) -> LiveObservation {
    LiveObservation(of: self, body)
  }
}

/// Keeps an observation of a live view alive, and ends with it.
public final class LiveObservation: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  /// Calls `body` with each update of a live view, then with the error that ends it, if any.
  init<Updates: AsyncSequence & Sendable>(
    of updates: Updates,
    _ body: @escaping @Sendable (Result<Updates.Element, AnnalsError>) -> Void
  ) where Updates.Failure == AnnalsError {
    task = Task {
      var iterator = updates.makeAsyncIterator()
      do throws(AnnalsError) {
        while let update = try await iterator.next(isolation: nil) { body(.success(update)) }
      } catch {
        body(.failure(error))
      }
    }
  }

  /// Ends the observation. A call of `body` under way completes; no other follows.
  public func cancel() { task.cancel() }

  deinit { task.cancel() }
}

extension LiveView {
  /// Replaces the fetch, in place: each iterator yields one update from its rows to the new ones,
  /// with the moves that turn one order into the other. The sections stay as they are.
  public func change<R: Record>(to fetch: Fetch<R>) where Row == Object<R> {
    core.change { LiveSource(fetch, nil).withSections(of: $0) }
  }

  /// Replaces the fetch and the sections, as `change(to:)` does; nil for no sections.
  public func change<R: Record>(
    to fetch: Fetch<R>, sections: RecordSections<R>?
  ) where Row == Object<R> {
    core.change { _ in LiveSource(fetch, sections) }
  }
}

extension LiveView where Row == DynamicObject {
  /// Replaces the shown objects, as `change(to:)` does a fetch. The sections stay as they are; if
  /// the entity is another, they go.
  public func change(
    to entity: String, where condition: Condition? = nil, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    let fetch = DynamicFetch(entity, where: condition, sortedBy: keys, limit, offset)
    core.change { LiveSource(fetch, nil).withSections(of: $0) }
  }

  /// Replaces the shown objects and the sections; nil for no sections.
  public func change(
    to entity: String, where condition: Condition? = nil, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0, sections: ListSections?
  ) {
    let fetch = DynamicFetch(entity, where: condition, sortedBy: keys, limit, offset)
    core.change { _ in LiveSource(fetch, sections) }
  }
}

extension Store {
  /// The result of a fetch that stays current, for `for try await`, `observe` and `LiveRows`.
  ///
  /// The offset and the limit are a window on the rows: rows that move into it are inserted, rows
  /// that move out are deleted. `.now` in a condition is the moment at which the condition was
  /// made.
  ///
  /// - Parameters:
  ///   - fetch: the objects, and their order.
  ///   - sections: how they are divided.
  ///   - delivery: whether what was missed makes one step or several.
  ///   - condition: which transactions make a step. Rows are always those of all transactions: what
  ///     was held back is in the next update.
  /// - Returns: a view that reads nothing yet; its iterators throw as `Snapshot.fetch(_:)` does.
  public func live<R: Record>(
    _ fetch: Fetch<R>, sections: RecordSections<R>? = nil, delivery: LiveDelivery = .latest,
    updatesFor condition: HistoryCondition = .always
  ) -> LiveView<Object<R>> {
    LiveView(self, LiveSource(fetch, sections), RowList.reader(R.self), delivery, condition)
  }

  /// The objects of the named entity, kept current; see `live(_:sections:)`.
  public func live(
    _ entity: String, where rowCondition: Condition? = nil,
    sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0, sections: ListSections? = nil,
    delivery: LiveDelivery = .latest, updatesFor condition: HistoryCondition = .always
  ) -> LiveView<DynamicObject> {
    let fetch = DynamicFetch(entity, where: rowCondition, sortedBy: keys, limit, offset)
    return LiveView(
      self, LiveSource(fetch, sections), RowList.storedReader, delivery, condition)
  }
}

extension Snapshot {
  /// The result of a fetch in this state, as a list with positions and sections. O(n log n), or by
  /// an index; throws as `fetch(_:)` does.
  public func rows<R: Record>(
    _ fetch: Fetch<R>, sections: RecordSections<R>? = nil
  ) throws(AnnalsError) -> RowList<Object<R>> {
    RowList(try LiveSource(fetch, sections).rows(in: self), RowList.reader(R.self))
  }

  /// The result of a fetch by names in this state; as the other form.
  public func rows(
    _ fetch: DynamicFetch, sections: ListSections? = nil
  ) throws(AnnalsError) -> RowList<DynamicObject> {
    RowList(try LiveSource(fetch, sections).rows(in: self), RowList.storedReader)
  }
}

extension LiveView {
  /// Keeps the rows of the last update, and waits for changes of them.
  public struct Iterator: AsyncIteratorProtocol {
    private var cursor: LiveCursor
    private let read: RowList<Row>.Reader
    private var feed = FeedWait()

    init(_ cursor: LiveCursor, _ read: @escaping RowList<Row>.Reader) {
      self.cursor = cursor
      self.read = read
    }

    /// The next update, once there is one; nil when the store is closed or the task cancelled.
    ///
    /// Throws if the rows cannot be read; the next call tries again.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AnnalsError) -> LiveUpdate<Row>? {
      let writer = cursor.core.store.writer
      while !Task.isCancelled {
        let newest = try writer.head.feedPosition()
        if let step = try cursor.advance(newest.token) {
          return LiveUpdate(
            rows: RowList(step.rows, read), diff: step.diff, isInitial: step.isInitial)
        }
        guard cursor.isLevel(with: newest.token) else { continue }
        guard try await feed.wait(beyond: newest, of: writer) else { return nil }
      }
      return nil
    }
  }
}
