import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

/// What pruning the history before a position would drop, and what it would keep.
/// `Store.prune(_:)` carries it out.
///
/// How large the file would be is known only when it is written: what is dropped leaves the state
/// that it led to, and what is kept is compressed anew.
public struct PrunePlan: Sendable {
  /// The oldest transaction that would be kept: the new floor.
  public let floor: Int64
  /// The floor when the plan was made. The plan is refused if it has moved.
  public let oldFloor: Int64
  /// How many transactions would be dropped.
  public let transactions: Int
  /// How many changes would be dropped with them.
  public let changes: Int
  /// The date of the oldest dropped transaction; nil if none would be dropped.
  public let oldest: Date?
  /// The date of the newest dropped transaction; nil if none would be dropped.
  public let newest: Date?
  /// The newest transaction when the plan was made.
  public let head: Int64
  /// How many of the transactions up to `head` would be kept, not counting those that a salvage
  /// found to be lost.
  public let transactionsKept: Int64
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
    let kept = History(
      version: version, after: last, through: view.head.number, condition: .always)
    let now = clock()
    let first = try AnnalsError.translating { () throws(LogError) in
      last == 0 ? nil : try view.firstDate(withBase: last, now: now) ?? now
    }
    return PrunePlan(
      floor: last + 1, oldFloor: view.floor, transactions: transactions, changes: changes,
      oldest: oldest, newest: newest, head: view.head.number,
      transactionsKept: Int64(try kept.count()), firstDate: first.map { Date($0) },
      blockers: consumers.filter { $0.blocks(floor: last + 1) })
  }
}
