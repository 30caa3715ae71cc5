import AnnalsModel

// What dates in conditions mean: timestamps beyond now do not count.

extension HistoryCondition {
  /// The condition with the timestamps that count by a clock, which is read only if there are
  /// dates.
  ///
  /// Throws `.invalidArgument` for a date that is infinite or not a number.
  package func counting(_ clock: () -> Timestamp) throws(AnnalsError) -> HistoryCondition {
    guard node.hasDates else { return self }
    return HistoryCondition(try node.counting(upTo: clock()))
  }
}

extension HistoryCondition.Node {
  fileprivate var hasDates: Bool {
    switch self {
    case .since, .until, .noDate: true
    case .not(let inner): inner.hasDates
    case .and(let a, let b), .or(let a, let b): a.hasDates || b.hasDates
    default: false
    }
  }

  fileprivate func counting(upTo now: Timestamp) throws(AnnalsError) -> Self {
    switch self {
    case .since(let moment): return .dated(min(moment, now)...now)
    case .until(let moment): return .dated(.min...min(moment, now))
    case .noDate: throw .noDate
    case .not(let inner): return .not(try inner.counting(upTo: now))
    case .and(let a, let b):
      return .and(try a.counting(upTo: now), try b.counting(upTo: now))
    case .or(let a, let b):
      return .or(try a.counting(upTo: now), try b.counting(upTo: now))
    default: return self
    }
  }
}

extension AnnalsError {
  /// The error for a `Date` that is infinite or not a number.
  package static var noDate: AnnalsError {
    AnnalsError(.invalidArgument, "a date that is infinite or not a number is no moment")
  }
}
