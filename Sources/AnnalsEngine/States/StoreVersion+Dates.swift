import AnnalsFormat
import AnnalsLog
import AnnalsModel

// Past positions by date, and the errors for those that a pruned store no longer has.

extension StoreVersion {
  /// The last transaction of the longest prefix of history whose timestamps are all at or before a
  /// moment; 0 for a moment before all history.
  ///
  /// Throws `.pruned` if that prefix ends before the base, where neither the transaction nor its
  /// state is known. A base of 0 is the beginning of history. Reads one segment of the log.
  package func number(asOf moment: Timestamp) throws(AnnalsError) -> Int64 {
    let (number, timestamp) = base
    guard number == 0 || moment >= timestamp else { throw pruned(moment) }
    return try AnnalsError.translating { () throws(LogError) in try view.number(asOf: moment) }
  }

  /// The error for a position before the base.
  package func pruned(_ number: Int64) -> AnnalsError {
    .pruned(gap(number, nil))
  }

  private func pruned(_ moment: Timestamp) -> AnnalsError {
    .pruned(gap(nil, moment), oldest: base.timestamp)
  }

  private func gap(_ number: Int64?, _ moment: Timestamp?) -> HistoryGap {
    let header = view.file.header
    return HistoryGap(
      requested: number, requestedMoment: moment,
      oldestValid: Token(store: store, number: view.base, opening: 0),
      prunedAt: header.prunedAt, prunedBy: header.prunedBy)
  }
}
