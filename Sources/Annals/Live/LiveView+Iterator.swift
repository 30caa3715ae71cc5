import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension LiveView {
  /// Keeps the rows of the last update, and waits for changes of them.
  public struct Iterator: AsyncIteratorProtocol {
    private let view: LiveView
    /// The rows of the last update.
    private var shown: RowList<Row>?
    private var edition = 0
    /// All transactions up to here are in the shown rows, or were held back.
    private var seen: Token?
    /// For `.everyTransaction`: the state that the walk has reached, and what was held back.
    private var walk: LiveWalk?
    /// Kept from the first wait on, so that other processes' commits arrive.
    private var listener: FeedListener?

    init(_ view: LiveView) { self.view = view }

    /// An iterator that continues from rows of the view.
    init(_ view: LiveView, from rows: RowList<Row>, edition: Int) {
      self.view = view
      self.edition = edition
      shown = rows
      seen = rows.token
    }

    /// The next update, once there is one; nil when the store is closed or the task cancelled.
    ///
    /// Throws if the rows cannot be read; the next call tries again.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AnnalsError) -> LiveUpdate<Row>? {
      while !Task.isCancelled {
        let head = view.store.writer.head
        let newest = try head.feedPosition()
        if let update = try advance(newest.token) { return update }
        guard seen == newest.token, walk?.isAtEnd ?? true else { continue }
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

    /// As `next(isolation:)`.
    public mutating func next() async throws(AnnalsError) -> LiveUpdate<Row>? {
      try await next(isolation: nil)
    }

    /// One step towards the newest transaction; nil if it makes no update.
    private mutating func advance(_ newest: Token) throws(AnnalsError) -> LiveUpdate<Row>? {
      let current = view.current
      guard let shown else {
        let rows = try current.source.rows(in: view.store.snapshot())
        edition = current.edition
        show(rows)
        return LiveUpdate(rows: rows, diff: rows.list.initialDiff(), isInitial: true)
      }
      if current.edition != edition {
        let update = try turn(from: shown, to: current.source)
        edition = current.edition
        show(update.rows)
        return update
      }
      guard seen != newest || walk?.isAtEnd == false else { return nil }
      return view.steps == .latest
        ? try leap(from: shown, current.source) : try walk(from: shown, current.source)
    }

    private mutating func show(_ rows: RowList<Row>) {
      shown = rows
      seen = rows.token
    }

    /// The update after the view's source has changed.
    private mutating func turn(
      from shown: RowList<Row>, to source: LiveSource<Row>
    ) throws(AnnalsError) -> LiveUpdate<Row> {
      if view.steps == .everyTransaction {
        let changes = try walk?.changes() ?? ListChanges()
        let update = try source.turn(from: shown, to: walk?.snapshot ?? shown.snapshot, changes)
        walk?.clear()
        return update
      }
      let snapshot = view.store.snapshot()
      let changes = try view.store.version.changes(
        from: shown.snapshot, to: snapshot, of: shown.list.entities)
      return try source.turn(from: shown, to: snapshot, changes)
    }

    /// The update for all new transactions at once.
    private mutating func leap(
      from shown: RowList<Row>, _ source: LiveSource<Row>
    ) throws(AnnalsError) -> LiveUpdate<Row>? {
      let publication = view.store.writer.head.publication(after: shown.snapshot.position.number)
      let version = publication.version
      let snapshot = version.snapshot
      guard try view.isStep(version, after: seen ?? shown.token) else {
        seen = snapshot.token
        return nil
      }
      let changes = try publication.changes(
        from: shown.snapshot, to: snapshot, of: shown.list.entities)
      let update = try source.step(from: shown, to: snapshot, changes)
      show(update.rows)
      return update.diff.isEmpty ? nil : update
    }

    /// The update for the next transaction that makes one.
    private mutating func walk(
      from shown: RowList<Row>, _ source: LiveSource<Row>
    ) throws(AnnalsError) -> LiveUpdate<Row>? {
      do throws(AnnalsError) {
        var walk = self.walk ?? LiveWalk(shown.snapshot)
        self.walk = nil
        if walk.isAtEnd { try walk.begin(view.store.version, view.condition) }
        while let isStep = try walk.next() {
          guard isStep else { continue }
          let changes = try walk.changes()
          let update =
            walk.hasNewSchema
            ? try source.turn(from: shown, to: walk.snapshot, changes)
            : try source.step(from: shown, to: walk.snapshot, changes)
          walk.clear()
          self.walk = walk
          self.shown = update.rows
          if !update.diff.isEmpty { return update }
          return nil
        }
        seen = walk.end
        self.walk = walk
        return nil
      } catch {
        // What could not be read is read again, from the shown rows.
        self.walk = nil
        seen = shown.token
        throw error
      }
    }
  }

  /// Whether any transaction after a position makes a step.
  fileprivate func isStep(_ version: StoreVersion, after seen: Token) throws(AnnalsError) -> Bool {
    if case .always = condition.node { return true }
    do throws(AnnalsError) {
      let after = try version.number(after: .token(seen))
      var cursor = try PartCursor(
        History(
          version: version, after: after, through: version.head.number, condition: condition))
      while let part = try cursor.next() {
        if part.isSelected { return true }
      }
      return false
    } catch {
      // If history can no longer tell, nothing is held back.
      guard error.isMissingHistory else { throw error }
      return true
    }
  }
}
