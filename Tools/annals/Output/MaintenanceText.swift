import Annals

/// Formats a maintenance plan.
enum MaintenanceText {
  /// The lines of a plan; none for a store that keeps everything.
  static func lines(_ plan: MaintenancePlan, _ console: Console) -> [String] {
    var lines: [String] = []
    if let prune = plan.prune {
      let what =
        "\(Numerals.counted(prune.transactions, "transaction")) before \(prune.floor), about "
        + Numerals.size(plan.bytesGained)
      lines.append(
        plan.outcome == .prunes ? "drops \(what)" : "drops nothing yet: too little, \(what)")
    } else if plan.outcome == .nothingToDrop {
      lines.append("nothing to drop")
    } else if plan.outcome == .blocked {
      lines.append("drops nothing yet")
    }
    for blocker in plan.blockers {
      lines.append("waits before \(plan.wantedFloor): \(blocker.text)")
    }
    return lines
  }
}
