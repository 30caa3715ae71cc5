import AnnalsEngine
import AnnalsModel
import Foundation

// Foundation's dates in the history that the engine reads.

extension Transaction {
  /// The timestamp of the commit, from the writer's clock or the import.
  public var timestamp: Date { Date(moment) }
}

extension TransactionHeader {
  /// The timestamp of the commit.
  public var timestamp: Date { Date(moment) }
}

extension Date: HistoryPosition {
  /// The moment. One that is infinite or not a number is refused where it is used.
  public var historyPlace: HistoryPlace {
    timeIntervalSinceReferenceDate.isFinite ? .date(Timestamp(self)) : .noDate
  }
}

extension HistoryCondition {
  /// Matches transactions whose timestamp is at this moment or later, and not beyond now by the
  /// store's clock: that would be of a clock that was ahead. A date later than now means now.
  public static func since(_ date: Date) -> HistoryCondition {
    HistoryCondition(date.historyPlace.kind == .noDate ? .noDate : .since(Timestamp(date)))
  }

  /// Matches transactions whose timestamp is at this moment or earlier, and not beyond now.
  public static func until(_ date: Date) -> HistoryCondition {
    HistoryCondition(date.historyPlace.kind == .noDate ? .noDate : .until(Timestamp(date)))
  }
}
