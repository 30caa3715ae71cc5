import Annals

/// A transaction of a history, with the first of its changes that match.
package struct TransactionDigest {
  /// The transaction, of a large one the first part.
  package var transaction: Transaction
  /// The first changes that match.
  package var changes: [Change] = []
  /// How many changes match.
  package var matching = 0
  /// How many changes there are.
  package var total = 0
  /// Whether the history's condition selects the transaction.
  package var isSelected = false

  package var number: Int64 { transaction.number }
}

/// Walks the transactions of a history in its direction, and gives the state as of each on request.
///
/// Memory: the state and one frame, whatever the number and size of transactions; with
/// `nextTransaction`, one transaction.
package struct HistoryWalk {
  private let isReversed: Bool
  private var cursor: PartCursor
  /// The first part of the next transaction, if it was read already.
  private var held: TransactionPart?
  /// The states just after the transactions.
  package let states: NamingStates
  private let most: Int
  /// Only transactions whose messages contain this, whatever the case, are selected; nil for all.
  private let mention: String?

  /// Walks a history; a digest has at most so many changes.
  package init(_ history: History, changes most: Int, mentioning text: String? = nil) throws {
    isReversed = history.isReversed
    self.most = most
    mention = text?.lowercased()
    states = NamingStates(
      history.version, movingTo: isReversed ? history.after : history.through, isExact: true)
    cursor = try PartCursor(history)
  }

  /// Walks the transactions after one, through another, that a condition selects and whose messages
  /// contain a text.
  package init(
    _ store: Store, after: Int64, through: Int64, condition: HistoryCondition, isReversed: Bool,
    changes most: Int = .max, mentioning text: String? = nil
  ) throws {
    let forward = History(
      version: store.version, after: after, through: through, condition: condition)
    try self.init(isReversed ? forward.reversed() : forward, changes: most, mentioning: text)
  }

  /// Whether there may be more.
  var hasMore: Bool { held != nil }

  /// The next transaction that is selected, with its first changes; nil after the last.
  package mutating func nextDigest() throws -> TransactionDigest? {
    while let digest = try nextRead() {
      if digest.isSelected { return digest }
    }
    return nil
  }

  /// The next transaction that is read, whether it is selected or not; nil after the last.
  mutating func nextRead() throws -> TransactionDigest? {
    guard var digest = try readDigest() else { return nil }
    digest.isSelected = digest.isSelected && mentions(digest.transaction)
    return digest
  }

  private func mentions(_ transaction: Transaction) -> Bool {
    guard let mention else { return true }
    return transaction.message?.lowercased().contains(mention) == true
  }

  private mutating func readDigest() throws -> TransactionDigest? {
    guard let first = try nextPart() else { return nil }
    var digest = TransactionDigest(transaction: first.transaction)
    var part = first
    while true {
      add(part, to: &digest)
      guard let next = try nextPart() else { return digest }
      guard next.record.number == first.record.number else {
        held = next
        return digest
      }
      part = next
    }
  }

  private func add(_ part: TransactionPart, to digest: inout TransactionDigest) {
    // The first part has the message; backward, the last part comes first.
    if part.record.part == 0 { digest.transaction = part.transaction }
    digest.isSelected = digest.isSelected || part.isSelected
    digest.total += Int(part.record.changeCount)
    let selected = part.selectedChanges
    digest.matching += selected.count
    let changes = selected.prefix(most).map {
      Change(page: part.page, transaction: part.index, index: $0)
    }
    if digest.changes.isEmpty {
      digest.changes = changes
    } else {
      let all = isReversed ? changes + digest.changes : digest.changes + changes
      digest.changes = Array(all.prefix(most))
    }
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
      guard parts.contains(where: \.isSelected), mentions(parts[0].transaction) else { continue }
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
