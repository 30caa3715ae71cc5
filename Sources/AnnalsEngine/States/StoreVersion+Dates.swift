import AnnalsFormat
import AnnalsLog
import AnnalsModel

// Past positions by date, and the errors for those that a pruned store no longer has.

extension StoreVersion {
  /// The last transaction of the longest prefix of history that ends with one that counts and whose
  /// counting timestamps are all at or before a moment; 0 for a moment before all history.
  /// Timestamps beyond `now` do not count.
  ///
  /// Throws `.pruned` if that prefix ends before the base, where neither the transaction nor its
  /// state is known. A base of 0 is the beginning of history. Costs what
  /// `LogView.number(asOf:now:)` does.
  package func number(asOf moment: Timestamp, now: Timestamp) throws(AnnalsError) -> Int64 {
    let (number, base) = try AnnalsError.translating {
      (try view.number(asOf: moment, now: now), try view.baseDate(now: now))
    }
    if view.base == 0 || number > view.base { return number }
    guard let base, base <= moment else { throw pruned(moment, oldest: base) }
    return number
  }

  /// The error for a position before the base.
  package func pruned(_ number: Int64) -> AnnalsError {
    .pruned(gap(number, nil))
  }

  private func pruned(_ moment: Timestamp, oldest: Timestamp?) -> AnnalsError {
    .pruned(gap(nil, moment), oldest: oldest)
  }

  private func gap(_ number: Int64?, _ moment: Timestamp?) -> HistoryGap {
    let header = view.file.header
    return HistoryGap(
      requested: number, requestedMoment: moment,
      oldestValid: Token(store: store, number: view.base, opening: 0),
      prunedAt: header.prunedAt, prunedBy: header.prunedBy)
  }
}
