import Annals
import AnnalsShipping

/// Formats what was shipped and restored.
enum ShippingText {
  /// Reads `500ms`, `1s`, `5m` or `1h`; nil for anything else, and for nothing.
  static func interval(_ text: String) -> Duration? {
    let units: [(String, Duration)] = [
      ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3_600)),
    ]
    for (unit, length) in units where text.hasSuffix(unit) {
      let digits = text.dropLast(unit.utf8.count)
      guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let count = Int32(digits),
        count > 0
      else { continue }
      return length * Int(count)
    }
    return nil
  }

  /// Whether what failed may work later, by itself or once somebody has seen to it.
  static func mayPass(_ error: AnnalsError) -> Bool {
    [.noSpace, .io, .permission, .notFound, .busy].contains(error.code)
  }

  /// What one pass did.
  static func lines(
    _ report: ShippingReport, of file: String, in folder: String
  ) -> [String] {
    var lines: [String] = []
    if let reason = report.newBase {
      lines.append(
        "\(folder): base \(report.base), up to transaction \(report.head), "
          + "\(Numerals.size(report.bytes))" + text(of: reason, report, file))
    } else if report.segments > 0 {
      let new = report.head - (report.headBefore ?? 0)
      lines.append(
        "\(folder): \(Numerals.counted(new, "transaction")), up to \(report.head), "
          + Numerals.size(report.bytes))
    } else {
      lines.append("\(folder): nothing new, up to transaction \(report.head)")
    }
    if report.hasUnsynced {
      lines.append("\(file) has later transactions that are not known to be synced yet")
    }
    if !report.removed.isEmpty { lines.append("removed \(bases(report.removed))") }
    return lines
  }

  private static func text(
    of reason: ShippingReport.NewBase, _ report: ShippingReport, _ file: String
  ) -> String {
    switch reason {
    case .first: ""
    case .rewritten: ": \(file) was rewritten"
    case .branched:
      ": \(file) does not have all that was shipped up to transaction "
        + "\(report.headBefore ?? 0), which stays in the bases before"
    case .manySegments: ": much was shipped since the last"
    case .incomplete(let what): ": \(what)"
    }
  }

  /// `base 3`, or `bases 1, 2 and 3`.
  static func bases(_ numbers: [UInt64]) -> String {
    let texts = numbers.map(String.init)
    guard texts.count > 1, let last = texts.last else { return "base \(texts.first ?? "")" }
    return "bases \(texts.dropLast().joined(separator: ", ")) and \(last)"
  }
}
