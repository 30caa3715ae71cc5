import AnnalsFormat
import AnnalsLog

extension StoreFinding {
  /// The findings of a log's opening, by offset.
  static func list(_ report: RecoveryReport) -> [StoreFinding] {
    var result = report.findings.map { StoreFinding($0) }
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

  private init(_ finding: LogFinding) {
    let isSlot = FormatLimits.slotOffsets.contains(finding.offset)
    self.init(
      severity: .warning,
      message: "\(finding.text) (offset \(finding.offset)). Nothing is lost: "
        + (isSlot
          ? "the other slot says what it would, and the next writer renews this one"
          : "the state was made from an earlier one and the history"),
      offset: finding.offset, skippedBytes: isSlot ? UInt64(FormatLimits.blockLength) : 0)
  }

  private static func unfinished(_ offset: UInt64, _ count: UInt64) -> StoreFinding {
    StoreFinding(
      severity: .warning,
      message: "\(count) bytes from offset \(offset) on are no whole transaction, and are passed "
        + "over: a crash cut one short, or another process is just writing it. The next writer "
        + "clears away what a crash left", offset: offset, skippedBytes: count)
  }
}
