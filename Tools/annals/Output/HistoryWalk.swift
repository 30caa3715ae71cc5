import Annals
import AnnalsExchange

/// What `log` shows of a transaction: the first of its wanted changes, and how many there are in
/// all.
struct TransactionDigest {
  /// The transaction's head; its changes are those of one part.
  var transaction: Transaction
  var shown: [Change]
  var total: Int

  var number: Int64 { transaction.number }
}

/// Walks the transactions that a condition wants, with the state as of each at hand.
///
/// Memory: the state and one frame, whatever the number and size of transactions; with
/// `nextTransaction`, one transaction.
struct HistoryWalk {
  private let history: History
  private let isReversed: Bool
  private var cursor: PartCursor
  private var held: TransactionPart?
  /// The state, once it has been asked for.
  private var moving: StateCursor?
  private let end: Int64

  /// More changes than this are cut to `shownIfCut`.
  static let shownIfWhole = 5
  static let shownIfCut = 3

  init(
    _ store: Store, after: Int64, through: Int64, condition: HistoryCondition, isReversed: Bool
  ) throws {
    let forward = History(
      version: store.version, after: after, through: through, condition: condition)
    history = isReversed ? forward.reversed() : forward
    self.isReversed = isReversed
    end = isReversed ? after : through
    cursor = try PartCursor(history)
  }

  /// The state just after a transaction; asked in the order of the walk.
  mutating func state(at number: Int64) throws(AnnalsError) -> StateReader {
    if moving == nil {
      // Often nobody asks; so the state is made only now, and where it is needed.
      moving = try StateCursor(version: history.version, at: number, movingTo: end)
    }
    guard var now = moving else { preconditionFailure("the state was just made") }
    // Held once only, so that moving on changes it in place.
    moving = nil
    try now.move(to: number)
    let state = now.reader
    moving = now
    return state
  }

  /// The next transaction, with a few changes.
  mutating func nextDigest() throws -> TransactionDigest? {
    while let first = try nextPart() {
      var digest = TransactionDigest(transaction: first.transaction, shown: [], total: 0)
      var isSelected = false
      var part = first
      while true {
        isSelected = isSelected || part.isSelected
        add(part, to: &digest)
        // The head, with the message, is in the first part.
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
    // Backward, the parts of a transaction come last first.
    let all = isReversed ? changes + digest.shown : digest.shown + changes
    digest.shown = Array(all.prefix(HistoryWalk.shownIfWhole))
  }

  /// The next transaction, with all the changes that are wanted.
  mutating func nextTransaction() throws -> (Transaction, [Change])? {
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

extension JSONWriter {
  /// Writes what only the store itself knows of a transaction: its token and process.
  mutating func origin(of transaction: Transaction) {
    member("token", transaction.token.description)
    if let process = transaction.processName { member("process", process) }
    if let number = transaction.processID { member("pid", number) }
  }
}
