import AnnalsEngine
import AnnalsModel
import Foundation

/// A place in history that a reader can name: a token, the number of a transaction, or a date.
public protocol HistoryPosition: Sendable {
  /// The place as a value of the closed set that the engine knows.
  var historyPlace: HistoryPlace { get }
}

/// A token, a number or a date, as a place in history.
public enum HistoryPlace: Sendable, Hashable {
  /// Just after the transaction that the token names.
  case token(Token)
  /// Just after the transaction of this number; 0 is the beginning.
  case number(Int64)
  /// A moment.
  case date(Timestamp)
}

extension Token: HistoryPosition {
  /// The place just after the token's transaction.
  public var historyPlace: HistoryPlace { .token(self) }
}

extension Int64: HistoryPosition {
  /// The place just after the transaction of this number.
  public var historyPlace: HistoryPlace { .number(self) }
}

extension Int: HistoryPosition {
  /// The place just after the transaction of this number.
  public var historyPlace: HistoryPlace { .number(Int64(self)) }
}

extension Date: HistoryPosition {
  /// The moment.
  public var historyPlace: HistoryPlace { .date(Timestamp(self)) }
}

extension Timestamp: HistoryPosition {
  /// The moment.
  public var historyPlace: HistoryPlace { .date(self) }
}
