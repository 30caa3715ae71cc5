import AnnalsLog
import AnnalsModel

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
  /// The least and greatest timestamp of the dropped transactions; nil if none would be dropped.
  package let span: ClosedRange<Timestamp>?
  /// The newest transaction when the plan was made.
  public let head: Int64
  /// How many of the transactions up to `head` would be kept, not counting those that a salvage
  /// found to be lost.
  public let transactionsKept: Int64
  /// The first moment with a state afterwards; nil if every moment has one.
  package let firstMoment: Timestamp?

  /// The blocking consumers that have not read everything that would be dropped, and whose lease
  /// ran when the plan was made. Carrying out the plan checks this again.
  public let blockers: [ConsumerStatus]

  /// Why the plan is refused without force; nil if no consumer blocks it.
  package var refusal: AnnalsError? { blockers.refusal(ofFloor: floor) }

  /// The transaction whose state would be the oldest readable one.
  public var base: Int64 { floor - 1 }
}

extension StoreWriter {
  /// What a prune would drop that makes the transaction after `last` the oldest. Reads the history
  /// that would be dropped, without values.
  package func prunePlan(after last: Int64, in version: StoreVersion) throws(AnnalsError)
    -> PrunePlan
  {
    let view = version.view
    let last = max(last, view.base)
    let doomed = History(version: version, after: view.base, through: last, condition: .always)
    var transactions = 0
    var changes = 0
    var span: ClosedRange<Timestamp>?
    try AnnalsError.translating {
      try doomed.forEachHeader { header in
        if header.lost != nil { return }
        transactions += 1
        changes += header.changeCount
        let known = span ?? header.moment...header.moment
        span = min(known.lowerBound, header.moment)...max(known.upperBound, header.moment)
      }
    }
    let kept = History(
      version: version, after: last, through: view.head.number, condition: .always)
    let now = now()
    let first = try AnnalsError.translating {
      last == 0 ? nil : try view.firstDate(withBase: last, now: now) ?? now
    }
    return PrunePlan(
      floor: last + 1, oldFloor: view.floor, transactions: transactions, changes: changes,
      span: span, head: view.head.number, transactionsKept: Int64(try kept.count()),
      firstMoment: first, blockers: blockers(ofFloor: last + 1))
  }
}

extension PrunePlan: CustomStringConvertible {
  /// What would be dropped: `drops 3 transactions before 12 (7 changes), keeps 23`.
  public var description: String {
    let dropped = "\(transactions) \(transactions == 1 ? "transaction" : "transactions")"
    let size = "\(changes) \(changes == 1 ? "change" : "changes")"
    let text = "drops \(dropped) before \(floor) (\(size)), keeps \(transactionsKept)"
    return blockers.isEmpty ? text : text + "; blocked by \(blockers.nameList)"
  }
}

extension [ConsumerStatus] {
  /// Why history before this floor cannot be dropped; nil if these do not keep any.
  func refusal(ofFloor floor: Int64) -> AnnalsError? {
    isEmpty ? nil : .blocked(map(\.name), map(\.text), floor: floor)
  }

  /// Their names, with commas between.
  var nameList: String { map(\.name).joined(separator: ", ") }
}
