import AnnalsFormat
import AnnalsLog

extension StoreFinding {
  /// The findings of a log's opening, by offset.
  package static func list(_ report: RecoveryReport) -> [StoreFinding] {
    var result = report.findings.map { StoreFinding($0, in: report) }
    switch report.tail {
    case .clean, .unclosed: break
    case .unfinished(let offset, let count): result.append(.unfinished(offset, count))
    case .damaged(let damage):
      let count = report.size - min(report.end, report.size)
      result.append(
        StoreFinding(
          severity: .error,
          message: "the file is damaged at offset \(damage.offset): \(damage.reason). \(count) "
            + "bytes from offset \(report.end) on are not read", offset: report.end,
          skippedBytes: count))
    }
    result.sort { $0.offset ?? 0 < $1.offset ?? 0 }
    return result
  }

  private init(_ finding: LogFinding, in report: RecoveryReport) {
    let isSlot = finding.subject == .slot
    self.init(
      severity: .warning,
      message: "\(finding.text) (offset \(finding.offset)). "
        + StoreFinding.consequence(of: finding.subject, in: report),
      offset: finding.offset, skippedBytes: isSlot ? UInt64(FormatLimits.blockLength) : 0)
  }

  /// What a defect may cost, and what becomes of it.
  private static func consequence(
    of subject: LogFinding.Subject, in report: RecoveryReport
  ) -> String {
    switch subject {
    case .slot where report.isEndProven:
      "Nothing is lost: the other slot says what it would, and the next writer renews this one"
    case .slot:
      "The other slot proves the transactions up to \(report.newestSlot?.head ?? 0). If bytes of "
        + "the log are damaged as well, later ones may be missing, and nothing tells. The next "
        + "writer renews this slot"
    case .checkpoint:
      "Nothing is lost: the state was made from an earlier one and the history"
    case .sideRecord(let kind): SideRecord.loss(of: kind).consequence
    }
  }

  private static func unfinished(_ offset: UInt64, _ count: UInt64) -> StoreFinding {
    StoreFinding(
      severity: .warning,
      message: "\(count) bytes from offset \(offset) on are no whole transaction, and are passed "
        + "over: a crash cut one short, or another process is just writing it. The next writer "
        + "clears away what a crash left", offset: offset, skippedBytes: count)
  }
}
