import AnnalsInspector
import Foundation

/// Formats what maintenance would do, and what rewrites have done.
enum MaintenanceText {
  /// The size of the file before a rewrite, and now that it is closed: closing may have added a
  /// checkpoint.
  static func sizes(_ before: UInt64, of file: String) -> String {
    "\(Numerals.size(before)) became \(Numerals.size(size(of: file)))"
  }

  /// How much room a rewrite of the file takes, and how much there is.
  static func room(for file: String) -> String {
    let needed = size(of: file)
    let folder = URL(fileURLWithPath: file).resolvingSymlinksInPath().deletingLastPathComponent()
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder.path)
    let free = (attributes?[.systemFreeSize] as? NSNumber)?.uint64Value ?? 0
    let missing = free < needed ? ", so \(Numerals.size(needed - free)) are missing" : ""
    return "The new file takes up to about \(Numerals.size(needed)) beside the old one, and "
      + "\(Numerals.size(free)) are free\(missing). Without that room: annals backup FILE COPY "
      + "writes a copy on another disk, which can be pruned and put in the old one's place while "
      + "no program uses it."
  }

  /// The size of a file in bytes; 0 if it is gone.
  static func size(of file: String) -> UInt64 {
    let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
  }

  /// The lines of a plan; none for a store that keeps everything.
  static func lines(_ plan: MaintenanceSummary) -> [String] {
    var lines: [String] = []
    if let drop = plan.drop {
      let what =
        "\(Numerals.counted(drop.transactions, "transaction")) before \(drop.floor), with "
        + "\(Numerals.counted(drop.changes, "change"))"
      lines.append(
        plan.outcome == "prunes" ? "drops \(what)" : "drops nothing yet: too little, \(what)")
    } else if plan.outcome == "nothingToDrop" {
      lines.append("nothing to drop")
    } else if plan.outcome == "blocked" {
      lines.append("drops nothing yet")
    }
    return lines + plan.blockers.map { "waits before \(plan.wantedFloor): \($0)" }
  }
}
