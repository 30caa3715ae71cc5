import Annals

/// Some transactions of a history in one direction, with the first changes of each that match.
///
/// A search stops after a while, even if it found less than was asked for, and says how far it
/// came. Memory: what was found, and one frame.
struct HistoryPage {
  /// A transaction that matches.
  struct Entry {
    /// The transaction, of a large one the first part.
    var transaction: Transaction
    /// The first changes that match.
    var changes: [Change]
    /// How many changes match.
    var matching: Int
    /// How many changes there are.
    var total: Int
  }

  private(set) var entries: [Entry] = []
  /// The number of the last transaction that was looked at; nil if there was none.
  private(set) var reached: Int64?
  /// Whether the search stopped before its end, with fewer than the limit.
  private(set) var isPartial = false
  /// Whether there may be more behind what was reached.
  private(set) var hasMore = false

  /// What is searched, and how much of it is kept.
  struct Search {
    var history: History
    var limit: Int
    /// As many changes are kept of each transaction.
    var changes: Int
    /// Which transactions are wanted, beside the history's own condition; nil for all.
    var isWanted: ((Transaction) -> Bool)?
  }

  init(_ search: Search, for time: WorkTime, _ cancellation: Cancellation) throws {
    var cursor = try PartCursor(search.history)
    var gathered: Entry?
    var isSelected = false
    var passed = 0
    func ends(_ entry: Entry) -> Bool {
      guard isSelected, search.isWanted?(entry.transaction) ?? true else { return false }
      entries.append(entry)
      return entries.count == search.limit
    }
    while let part = try cursor.next() {
      let number = part.record.number
      if let known = gathered, known.transaction.number != number {
        reached = known.transaction.number
        if ends(known) {
          hasMore = true
          return
        }
        (gathered, isSelected) = (nil, false)
        passed += 1
        if passed.isMultiple(of: 64) {
          try cancellation.check()
          if time.isOver {
            (isPartial, hasMore) = (true, true)
            return
          }
        }
      }
      isSelected = isSelected || part.isSelected
      var entry =
        gathered ?? Entry(transaction: part.transaction, changes: [], matching: 0, total: 0)
      entry.add(part, isReversed: search.history.isReversed, most: search.changes)
      gathered = entry
    }
    if let gathered {
      reached = gathered.transaction.number
      _ = ends(gathered)
    }
  }
}

extension HistoryPage.Entry {
  /// Adds the next part of the transaction; backward, its last part comes first.
  fileprivate mutating func add(_ part: TransactionPart, isReversed: Bool, most: Int) {
    if part.record.part == 0 { transaction = part.transaction }
    total += Int(part.record.changeCount)
    let selected = part.selectedChanges
    matching += selected.count
    let shown = selected.prefix(most).map {
      Change(page: part.page, transaction: part.index, index: $0)
    }
    changes = Array((isReversed ? shown + changes : changes + shown).prefix(most))
  }
}
