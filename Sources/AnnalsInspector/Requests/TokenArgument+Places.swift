import Annals
import AnnalsLog

extension TokenArgument {
  /// The place in the history of a store. A date is its last moment with `isEnd`, otherwise its
  /// first.
  ///
  /// - Throws: `RequestFault` for what lies before the beginning.
  package func place(in version: StoreVersion, isEnd: Bool) throws -> HistoryPlace {
    if let moment = isEnd ? end : start { return .date(moment) }
    switch self {
    case .number(let number): return .number(number)
    case .token(let token): return .token(token)
    case .mark(let mark, let back):
      let base = version.view.base
      let from =
        switch mark {
        case .head: version.token.number
        case .floor: base + 1
        case .base: base
        }
      guard back <= from else {
        throw RequestFault("\(mark.rawValue)~\(back) lies before the beginning of history")
      }
      return .number(from - back)
    case .moment, .period: preconditionFailure("dates have a moment")
    }
  }
}
