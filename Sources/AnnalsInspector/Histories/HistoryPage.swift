import Annals

/// Some transactions of a history in one direction, with the first changes of each that match.
///
/// A search stops after a while, even if it found less than was asked for, and says how far it
/// came. Memory: what was found, and one frame.
struct HistoryPage {
  private(set) var entries: [TransactionDigest] = []
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
    /// A text that their messages contain, whatever the case; nil for all.
    var mention: String?
  }

  init(_ search: Search, for time: WorkTime, _ cancellation: Cancellation) throws {
    var walk = try HistoryWalk(
      search.history, changes: search.changes, mentioning: search.mention)
    var passed = 0
    while let digest = try walk.nextRead() {
      reached = digest.number
      if digest.isSelected { entries.append(digest) }
      hasMore = walk.hasMore
      if entries.count == search.limit { return }
      passed += 1
      if hasMore, passed.isMultiple(of: 64) {
        try cancellation.check()
        isPartial = time.isOver
        if isPartial { return }
      }
    }
  }
}
