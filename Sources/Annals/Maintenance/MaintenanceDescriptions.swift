import AnnalsModel
import Foundation

// Plans and results of maintenance as text, for printing.

extension PrunePlan: CustomStringConvertible {
  /// What would be dropped: `drops 3 transactions before 12 (7 changes), keeps 23`.
  public var description: String {
    let dropped = "\(transactions) \(transactions == 1 ? "transaction" : "transactions")"
    let size = "\(changes) \(changes == 1 ? "change" : "changes")"
    let text = "drops \(dropped) before \(floor) (\(size)), keeps \(transactionsKept)"
    return blockers.isEmpty ? text : text + "; blocked by \(blockers.nameList)"
  }
}

extension MaintenancePlan: CustomStringConvertible {
  /// What would be done, or why nothing: `keeps 30 days: drops 3 transactions before 12 (…)`.
  public var description: String {
    let what =
      switch outcome {
      case .off: "all history is kept"
      case .nothingToDrop: "nothing to drop"
      case .blocked: "blocked by \(blockers.nameList)"
      case .littleGained: "too little to drop, \(prune.map { "\($0.changes)" } ?? "no") changes"
      case .prunes: prune?.description ?? "drops history"
      }
    return "keeps \(retention): \(what)"
  }
}

extension MaintenanceReport: CustomStringConvertible {
  /// The plan, and what it did to the file.
  public var description: String {
    rewrite.map { "\(plan); \($0)" } ?? "\(plan)"
  }
}

extension RewriteSummary: CustomStringConvertible {
  /// The sizes of the file: `20480 bytes, were 65536`.
  public var description: String {
    isRewritten ? "\(bytesAfter) bytes, were \(bytesBefore)" : "\(bytesAfter) bytes, not rewritten"
  }
}

extension [ConsumerStatus] {
  fileprivate var nameList: String { map(\.name).joined(separator: ", ") }
}
