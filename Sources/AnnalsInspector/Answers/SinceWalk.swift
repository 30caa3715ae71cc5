import Annals
import AnnalsLog
import AnnalsModel

/// Walks back through history for the newest transaction before which a claim had another answer.
///
/// Where own values decide, only the transactions that touch the object or the entity are looked
/// at: of an object, the states before those that may decide are asked; a count is taken from the
/// one after it and what became of the objects that changed. Otherwise each state is asked.
struct SinceWalk {
  let claim: Claim
  let store: OpenedStore
  let cancellation: Cancellation
  /// From the base to before the moment.
  let range: Range<Int64>
  /// Asks a state, and notes it.
  let ask: (Int64) throws -> SinceDocument.Probe
  let note: (SinceDocument.Probe) -> Void

  /// The transaction; nil if there is none among those that were looked at.
  private(set) var found: Int64?
  /// The number of the oldest state whose answer is known.
  private(set) var reached: Int64
  /// Whether all were looked at.
  private(set) var isWhole = false

  /// So many transactions are looked at.
  private static let most = 200_000
  /// So many, where each of their states is asked; none of a count, which takes long.
  private static let mostAsked = 5_000

  /// Walks from the answer at the end.
  mutating func run(from last: SinceDocument.Probe) throws {
    guard !range.isEmpty else { return isWhole = true }
    let condition: HistoryCondition =
      !claim.isOfOwnValues
      ? .always
      : claim.object.map { .touches($0.id(in: store.version.snapshot)) } ?? .touches(claim.entity)
    // What transactions changed that were lost is not known.
    let lost = store.version.view.gaps.map(\.last).filter { range.contains($0) }.max()
    let history = History(
      version: store.version, after: lost ?? range.lowerBound, through: range.upperBound,
      condition: condition)
    var walk = try HistoryWalk(history.reversed(), changes: .max)
    var count = last.count
    var rest = claim.isOfOwnValues ? SinceWalk.most : SinceWalk.mostAsked
    if claim.object == nil, !claim.isOfOwnValues { rest = 0 }
    while let (transaction, changes) = try walk.nextTransaction() {
      try cancellation.check()
      let before = transaction.number - 1
      guard rest > 0, before != lost else { return }
      rest -= 1
      if claim.isOfOwnValues, transaction.schemaChange.isEmpty,
        !changes.contains(where: claim.mayDecide)
      {
        continue
      }
      let probe = try answer(before: transaction, changes, count)
      (reached, count) = (before, probe.count)
      if probe.holds != last.holds { return found = transaction.number }
    }
    if lost != nil { return }
    // What changed otherwise is not of the objects: a property that the schema did not have.
    isWhole = try reached == range.lowerBound || ask(range.lowerBound).holds == last.holds
  }

  /// The answer of the state before a transaction, whose own is a count of so many.
  private func answer(
    before transaction: Transaction, _ changes: [Change], _ count: Int?
  ) throws -> SinceDocument.Probe {
    let before = transaction.number - 1
    guard let count, claim.isOfOwnValues, transaction.schemaChange.isEmpty else {
      return try ask(before)
    }
    var rise: Int? = claim.rise(with: changes)
    if !claim.isOfExistence {
      let after = try store.snapshot(at: transaction.number).reader
      rise = try claim.rise(
        with: changes, from: store.snapshot(at: before).reader, to: after,
        under: transaction.schema, store)
    }
    guard let rise else { return try ask(before) }
    let probe = claim.probe(before, counting: count - rise)
    note(probe)
    return probe
  }
}
