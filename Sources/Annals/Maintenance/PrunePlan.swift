import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

/// What pruning the history before a position would drop, and the file afterwards.
/// `Store.prune(_:)` carries it out.
public struct PrunePlan: Sendable {
  /// The oldest transaction that would be kept: the new floor.
  public let floor: Int64
  /// The floor when the plan was made. The plan is refused if it has moved.
  public let oldFloor: Int64
  /// How many transactions would be dropped.
  public let transactions: Int
  /// How many changes would be dropped with them.
  public let changes: Int
  /// Roughly how many bytes of the file they take now.
  public let bytes: UInt64
  /// The date of the oldest dropped transaction; nil if none would be dropped.
  public let oldest: Date?
  /// The date of the newest dropped transaction; nil if none would be dropped.
  public let newest: Date?
  /// The newest transaction when the plan was made.
  public let head: Int64
  /// How many of the transactions up to `head` would be kept.
  public let transactionsKept: Int64
  /// Roughly how many bytes the file would have.
  public let bytesAfter: UInt64
  /// The first date with a state afterwards; nil if every date has one.
  public let firstDate: Date?

  /// The blocking consumers that have not read everything that would be dropped, and whose lease
  /// ran when the plan was made. Carrying out the plan checks this again.
  public let blockers: [ConsumerStatus]

  /// The transaction whose state would be the oldest readable one.
  public var base: Int64 { floor - 1 }
}

extension Store {
  /// What a prune before a position would drop: the transaction at the position is kept whole, and
  /// so is every state from just before it on.
  ///
  /// Reads the history that would be dropped, without values. Throws as
  /// `history(after:before:where:)` does.
  public func prunePlan(before position: any HistoryPosition) throws(AnnalsError) -> PrunePlan {
    let version = version
    let view = version.view
    let clock = environment.clock
    let last = max(try version.number(before: position.historyPlace, clock), view.base)
    let doomed = History(version: version, after: view.base, through: last, condition: .always)
    var transactions = 0
    var changes = 0
    var oldest: Date?
    var newest: Date?
    try AnnalsError.narrowing {
      try doomed.forEachHeader { header in
        if header.lost != nil { return }
        transactions += 1
        changes += header.changeCount
        oldest = min(oldest ?? header.timestamp, header.timestamp)
        newest = max(newest ?? header.timestamp, header.timestamp)
      }
    }
    let sizes = try PruneSizes(of: view, dropping: changes, through: last)
    let lost = view.gaps.reduce(0) { count, gap in
      count + max(0, min(gap.last, view.head.number) - max(gap.first, last + 1))
    }
    let now = clock()
    let first = try AnnalsError.translating { () throws(LogError) in
      last == 0 ? nil : try view.firstDate(withBase: last, now: now) ?? now
    }
    return PrunePlan(
      floor: last + 1, oldFloor: view.floor, transactions: transactions, changes: changes,
      bytes: sizes.dropped, oldest: oldest, newest: newest, head: view.head.number,
      transactionsKept: view.head.number - last - lost, bytesAfter: sizes.after,
      firstDate: first.map { Date($0) },
      blockers: consumers.filter { $0.blocks(floor: last + 1) })
  }
}

/// Roughly how many bytes a prune drops, and leaves.
///
/// Frames may hold many transactions, so each change counts its share of everything that is not
/// state.
private struct PruneSizes {
  var dropped: UInt64
  var after: UInt64

  init(of view: LogView, dropping changes: Int, through last: Int64) throws(AnnalsError) {
    let directories = try AnnalsError.translating { () throws(LogError) in
      (
        base: try view.baseDirectory(), newest: try view.checkpoint(atOrBefore: view.head.number)
      )
    }
    let newest = directories.newest.flatMap { $0.isBase ? nil : $0 }
    let base = directories.base?.stateLength ?? 0
    let checkpoint = newest?.stateLength ?? 0
    let log = view.end - min(view.end, FormatLimits.logStart)
    let history = log - min(log, base + checkpoint)
    let share = view.changeCount > 0 ? min(1, Double(changes) / Double(view.changeCount)) : 0
    dropped = UInt64(Double(history) * share)
    // The new base holds the old one and what was added since; hardly more than the newest
    // checkpoint, which is carried over if it lies after the base.
    var state = base + dropped
    if let newest {
      state = min(state, max(base, checkpoint))
      if newest.number > last { state += checkpoint }
    }
    after = FormatLimits.logStart + (history - dropped) + state
  }
}

extension CheckpointDirectory {
  /// The total length of the state's chunks.
  fileprivate var stateLength: UInt64 {
    entities.reduce(0) { sum, entity in
      let columns = entity.columns.flatMap(\.chunks)
      let indexes = entity.indexes.flatMap { $0.chunks.map(\.reference) }
      return (entity.rows + columns + indexes).reduce(sum) { $0 + UInt64($1.length) }
    }
  }
}
