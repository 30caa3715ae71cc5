import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsQuery
import AnnalsStorage

/// What a live view is of, whatever the type of its rows.
final class LiveCore: Sendable {
  /// The current source, how often it was replaced, and how often the time was asked for anew.
  struct Current: Sendable {
    var source: LiveSource
    var revision = 0
    var tick = 0
  }

  let store: Store
  let delivery: LiveDelivery
  /// Which transactions make an update.
  let condition: HistoryCondition
  private let shown: Locked<Current>

  init(
    _ store: Store, _ source: LiveSource, _ delivery: LiveDelivery, _ condition: HistoryCondition
  ) {
    self.store = store
    self.delivery = delivery
    self.condition = condition
    shown = Locked(Current(source: source))
  }

  var current: Current { shown.withLock { $0 } }

  /// Replaces the source by what `change` makes of it: each iterator yields one update for it.
  func change(_ change: (LiveSource) -> LiveSource) {
    shown.withLock { shown in
      shown.source = change(shown.source)
      shown.revision += 1
    }
    store.writer.head.wake()
  }

  /// Has each iterator look at the clock, which is part of a step.
  func tick() {
    shown.withLock { $0.tick += 1 }
    store.writer.head.wake()
  }

  /// Whether any transaction after a position makes a step.
  fileprivate func isStep(_ version: StoreVersion, after seen: Token) throws(AnnalsError) -> Bool {
    if case .always = condition.node { return true }
    do throws(AnnalsError) {
      let after = try version.number(after: seen)
      var cursor = try PartCursor(
        History(
          version: version, after: after, through: version.head.number,
          condition: condition.counting(store.environment.clock)))
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

/// Follows the rows of a live view, whatever their type.
struct LiveCursor {
  /// An update, without the type of its rows.
  struct Step {
    var rows: RowListContent
    var diff: ListDiff
    var isInitial = false
  }

  let core: LiveCore
  /// The rows of the last update.
  private var shown: RowListContent?
  private var revision = 0
  private var tick = 0
  /// All transactions up to here are in the shown rows, or were held back.
  private var seen: Token?
  /// For `.everyTransaction`: the state that the walk has reached, and what was held back.
  private var walk: LiveWalk?

  init(_ core: LiveCore) { self.core = core }

  /// Continues from rows of the view.
  init(_ core: LiveCore, from rows: RowListContent, _ current: LiveCore.Current) {
    self.core = core
    (revision, tick) = (current.revision, current.tick)
    shown = rows
    seen = rows.snapshot.token
  }

  /// Whether nothing more is to be read up to a position.
  func isLevel(with newest: Token) -> Bool {
    seen == newest && (core.delivery == .latest || walk?.isAtEnd ?? true)
  }

  /// One step towards the newest transaction; nil if it makes no update.
  mutating func advance(_ newest: Token) throws(AnnalsError) -> Step? {
    let current = core.current
    // Moved out, so that rows that nobody else holds are changed in place.
    guard var rows = shown.take() else {
      let rows = try current.source.rows(in: core.store.snapshot())
      (revision, tick) = (current.revision, current.tick)
      (shown, seen) = (rows, rows.snapshot.token)
      return Step(rows: rows, diff: rows.list.initialDiff(), isInitial: true)
    }
    defer { shown = rows }
    if current.revision != revision {
      let diff = try rebuild(&rows, to: current.source)
      (revision, tick) = (current.revision, current.tick)
      seen = rows.snapshot.token
      return Step(rows: rows, diff: diff)
    }
    guard !isLevel(with: newest) || current.tick != tick else { return nil }
    let diff =
      core.delivery == .latest
      ? try stepToNewest(&rows, current.source) : try stepThroughHistory(&rows, current.source)
    tick = current.tick
    guard let diff, !diff.isEmpty else { return nil }
    return Step(rows: rows, diff: diff)
  }

  /// The step after the view's source has changed.
  private mutating func rebuild(
    _ rows: inout RowListContent, to source: LiveSource
  ) throws(AnnalsError) -> ListDiff {
    if core.delivery == .everyTransaction {
      let changes = try walk?.changes() ?? ListChanges()
      let diff = try source.rebuild(&rows, to: walk?.snapshot ?? rows.snapshot, changes)
      walk?.clear()
      return diff
    }
    let snapshot = core.store.snapshot()
    let changes = try core.store.version.changes(
      from: rows.snapshot, to: snapshot, of: rows.list.entities)
    return try source.rebuild(&rows, to: snapshot, changes)
  }

  /// The step for all new transactions at once; nil if none makes one.
  private mutating func stepToNewest(
    _ rows: inout RowListContent, _ source: LiveSource
  ) throws(AnnalsError) -> ListDiff? {
    let publication = core.store.writer.head.publication(after: rows.snapshot.position.number)
    let version = publication.version
    guard try core.isStep(version, after: seen ?? rows.snapshot.token) else {
      seen = version.token
      return nil
    }
    let snapshot = version.snapshot.with(clock: core.store.environment.clock)
    let changes = try publication.changes(
      from: rows.snapshot, to: snapshot, of: rows.list.entities)
    let diff = try source.step(&rows, to: snapshot, changes)
    seen = version.token
    return diff
  }

  /// The step for the next transaction that makes one; nil if there is none.
  private mutating func stepThroughHistory(
    _ rows: inout RowListContent, _ source: LiveSource
  ) throws(AnnalsError) -> ListDiff? {
    do throws(AnnalsError) {
      var walk = self.walk ?? LiveWalk(rows.snapshot)
      self.walk = nil
      if walk.isAtEnd { try walk.begin(core.store.version, core.condition) }
      while let isStep = try walk.next() {
        guard isStep else { continue }
        let changes = try walk.changes()
        let diff =
          walk.hasNewSchema
          ? try source.rebuild(&rows, to: walk.snapshot, changes)
          : try source.step(&rows, to: walk.snapshot, changes)
        walk.clear()
        self.walk = walk
        return diff
      }
      seen = walk.end
      self.walk = walk
      return nil
    } catch {
      // What could not be read is read again, from the shown rows.
      self.walk = nil
      seen = rows.snapshot.token
      throw error
    }
  }
}
