import AnnalsModel

/// A position in history: a token, a transaction number, or a date. No other type may conform.
public protocol HistoryPosition: Sendable {
  /// The position in the engine's own form.
  var historyPlace: HistoryPlace { get }
}

/// A token, a number or a date as a position in history. Opaque.
public struct HistoryPlace: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case token(Token)
    case number(Int64)
    case date(Timestamp)
    /// A `Date` that is infinite or not a number.
    case noDate
  }

  package let kind: Kind

  /// Just after the transaction that the token names.
  package static func token(_ token: Token) -> HistoryPlace { HistoryPlace(kind: .token(token)) }

  /// Just after the transaction of this number; 0 is the beginning.
  package static func number(_ number: Int64) -> HistoryPlace {
    HistoryPlace(kind: .number(number))
  }

  /// A date that is infinite or not a number.
  package static let noDate = HistoryPlace(kind: .noDate)

  /// A moment.
  package static func date(_ moment: Timestamp) -> HistoryPlace {
    HistoryPlace(kind: .date(moment))
  }

  /// The moment of a date; nil for a token and a number. Throws `.invalidArgument` for a date that
  /// is infinite or not a number.
  package var moment: Timestamp? {
    get throws(AnnalsError) {
      switch kind {
      case .date(let moment): return moment
      case .noDate: throw .noDate
      case .token, .number: return nil
      }
    }
  }
}

extension Token: HistoryPosition {
  /// The position just after the token's transaction.
  public var historyPlace: HistoryPlace { .token(self) }
}

extension Int64: HistoryPosition {
  /// The position just after the transaction of this number.
  public var historyPlace: HistoryPlace { .number(self) }
}

extension Int: HistoryPosition {
  /// The position just after the transaction of this number.
  public var historyPlace: HistoryPlace { .number(Int64(self)) }
}

extension HistoryPlace: HistoryPosition {
  /// The place itself.
  public var historyPlace: HistoryPlace { self }
}
