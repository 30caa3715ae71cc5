import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

/// What dropping history before a position would drop, and what the file would be afterwards.
/// Carried out by `Store.prune(_:)`.
public struct PrunePlan: Sendable {
  /// The oldest transaction that would be kept whole; the new floor.
  public let floor: Int64
  /// The floor when the plan was made; the plan is refused if it has moved.
  public let oldFloor: Int64
  /// How many transactions would go.
  public let transactions: Int
  /// How many changes would go with them.
  public let changes: Int
  /// About how many bytes of the file hold them now.
  public let bytes: UInt64
  /// The date of the oldest transaction that would go; nil if none would.
  public let oldest: Date?
  /// The date of the newest transaction that would go; nil if none would.
  public let newest: Date?
  /// The newest transaction when the plan was made.
  public let head: Int64
  /// How many transactions would be kept, those of before the plan was made.
  public let transactionsKept: Int64
  /// About how many bytes the file would have.
  public let bytesAfter: UInt64
  /// The first date as of which there would still be a state; nil if every date has one.
  public let firstDate: Date?

  /// The consumers that have not seen all that would go, block, and had a lease that ran when the
  /// plan was made. The plan is refused because of those that do when it is carried out.
  public let blockers: [ConsumerStatus]

  /// The transaction whose state would be the oldest that can be read.
  public var base: Int64 { floor - 1 }
}

extension Store {
  /// What would go if history before a position went: the transaction at the position stays whole,
  /// and so does every state from just before it on.
  ///
  /// Costs reading what would go, without its values. Throws as `history(after:before:where:)`
  /// does.
  public func prunePlan(before position: any HistoryPosition) throws(AnnalsError) -> PrunePlan {
    let version = version
    let view = version.view
    let last = max(try version.number(before: position.historyPlace), view.base)
    let doomed = History(version: version, after: view.base, through: last, condition: .always)
    var transactions = 0
    var changes = 0
    var oldest: Date?
    var newest: Date?
    try AnnalsError.narrowing {
      try doomed.forEachHeader { header in
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
    let base = Date(view.file.header.baseTimestamp)
    return PrunePlan(
      floor: last + 1, oldFloor: view.floor, transactions: transactions, changes: changes,
      bytes: sizes.dropped, oldest: oldest, newest: newest, head: view.head.number,
      transactionsKept: view.head.number - last - lost, bytesAfter: sizes.after,
      firstDate: last == 0 ? nil : max(newest ?? base, base),
      blockers: consumers.filter { $0.blocks(floor: last + 1) })
  }
}

/// About how many bytes a prune drops, and leaves.
///
/// Frames may hold many transactions, so changes have their share of all that is not state.
private struct PruneSizes {
  var dropped: UInt64
  var after: UInt64

  init(of view: LogView, dropping changes: Int, through last: Int64) throws(AnnalsError) {
    let directories: (base: CheckpointDirectory?, newest: CheckpointDirectory?)
    do throws(LogError) {
      directories = (
        try view.baseDirectory(), try view.checkpoint(atOrBefore: view.head.number)
      )
    } catch {
      throw AnnalsError(error)
    }
    let newest = directories.newest.flatMap { $0.isBase ? nil : $0 }
    let base = directories.base?.stateLength ?? 0
    let checkpoint = newest?.stateLength ?? 0
    let log = view.end - min(view.end, FormatLimits.logStart)
    let history = log - min(log, base + checkpoint)
    let share = view.changeCount > 0 ? min(1, Double(changes) / Double(view.changeCount)) : 0
    dropped = UInt64(Double(history) * share)
    // The new base has what the old one had and what was added, but hardly more than the newest
    // checkpoint, which is carried over if it lies behind.
    var state = base + dropped
    if let newest {
      state = min(state, max(base, checkpoint))
      if newest.number > last { state += checkpoint }
    }
    after = FormatLimits.logStart + (history - dropped) + state
  }
}

extension CheckpointDirectory {
  /// How many bytes the chunks of its state have.
  fileprivate var stateLength: UInt64 {
    entities.reduce(0) { sum, entity in
      let columns = entity.columns.flatMap(\.chunks)
      let indexes = entity.indexes.flatMap { $0.chunks.map(\.reference) }
      return (entity.rows + columns + indexes).reduce(sum) { $0 + UInt64($1.length) }
    }
  }
}
