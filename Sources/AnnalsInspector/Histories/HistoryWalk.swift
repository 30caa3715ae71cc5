import Annals

/// The part of a transaction that `log` shows: the first selected changes, and how many there are.
package struct TransactionDigest {
  /// The transaction, with the changes of one part only.
  package var transaction: Transaction
  package var shown: [Change]
  package var total: Int

  package var number: Int64 { transaction.number }
}

/// Walks the transactions that a condition selects, and gives the state as of each on request.
///
/// Memory: the state and one frame, whatever the number and size of transactions; with
/// `nextTransaction`, one transaction.
package struct HistoryWalk {
  private let history: History
  private let isReversed: Bool
  private var cursor: PartCursor
  private var held: TransactionPart?
  /// A cursor over states; nil until one was requested.
  private var moving: StateCursor?
  private let end: Int64

  /// If there are more changes than `shownIfWhole`, `shownIfCut` are shown.
  package static let shownIfWhole = 5
  package static let shownIfCut = 3

  package init(
    _ store: Store, after: Int64, through: Int64, condition: HistoryCondition, isReversed: Bool
  ) throws {
    let forward = History(
      version: store.version, after: after, through: through, condition: condition)
    history = isReversed ? forward.reversed() : forward
    self.isReversed = isReversed
    end = isReversed ? after : through
    cursor = try PartCursor(history)
  }

  /// The state after a transaction. Call it in the order of the walk.
  package mutating func state(at number: Int64) throws(AnnalsError) -> StateReader {
    if moving == nil {
      // The first request makes the state, since many walks need none.
      moving = try StateCursor(version: history.version, at: number, movingTo: end)
    }
    guard var now = moving else { preconditionFailure("the state was just made") }
    // A single reference, so that moving changes the state in place.
    moving = nil
    try now.move(to: number)
    let state = now.reader
    moving = now
    return state
  }

  /// The next transaction with its first changes; nil after the last.
  package mutating func nextDigest() throws -> TransactionDigest? {
    while let first = try nextPart() {
      var digest = TransactionDigest(transaction: first.transaction, shown: [], total: 0)
      var isSelected = false
      var part = first
      while true {
        isSelected = isSelected || part.isSelected
        add(part, to: &digest)
        // The first part has the message.
        if part.record.part == 0 { digest.transaction = part.transaction }
        guard let next = try nextPart() else { break }
        guard next.record.number == first.record.number else {
          held = next
          break
        }
        part = next
      }
      guard isSelected else { continue }
      if digest.total > HistoryWalk.shownIfWhole {
        digest.shown = Array(digest.shown.prefix(HistoryWalk.shownIfCut))
      }
      return digest
    }
    return nil
  }

  private func add(_ part: TransactionPart, to digest: inout TransactionDigest) {
    digest.total += Int(part.record.changeCount)
    let changes = part.selectedChanges.prefix(HistoryWalk.shownIfWhole).map {
      Change(page: part.page, transaction: part.index, index: $0)
    }
    // Backward, the last part of a transaction comes first.
    let all = isReversed ? changes + digest.shown : digest.shown + changes
    digest.shown = Array(all.prefix(HistoryWalk.shownIfWhole))
  }

  /// The next transaction with all selected changes; nil after the last.
  package mutating func nextTransaction() throws -> (Transaction, [Change])? {
    while let first = try nextPart() {
      var parts = [first]
      while let next = try nextPart() {
        guard next.record.number == first.record.number else {
          held = next
          break
        }
        parts.append(next)
      }
      if isReversed { parts.reverse() }
      guard parts.contains(where: \.isSelected) else { continue }
      let changes = parts.flatMap { part in
        part.selectedChanges.map { Change(page: part.page, transaction: part.index, index: $0) }
      }
      return (parts[0].transaction, changes)
    }
    return nil
  }

  private mutating func nextPart() throws -> TransactionPart? {
    defer { held = nil }
    return try held ?? cursor.next()
  }
}
