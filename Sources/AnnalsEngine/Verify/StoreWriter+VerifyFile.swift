import AnnalsInspection
import AnnalsLog
import AnnalsStorage

extension StoreWriter {
  /// The physical half of `verify`: checks every byte of the file. Waits a moment for other writers
  /// to end, and locks them out meanwhile if it can. Reads the file twice.
  package func verifyFile() throws(AnnalsError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try AnnalsError.translating {
      try log.withBytes { file, isLocked in
        var verification = try PhysicalVerification(file)
        _ = try verification.run { finding in
          // A writer at work leaves what looks torn until it is done.
          if !isLocked, finding.subject == .tornTail { return }
          findings.append(StoreFinding(finding))
        }
      }
    }
    return findings
  }
}

extension StoreFinding {
  fileprivate init(_ finding: Finding) {
    let severity: Severity =
      switch finding.severity {
      case .error: .error
      case .warning: .warning
      case .note: .note
      }
    let place = finding.offset.map { "at \($0): " } ?? ""
    let remedy = finding.remedy.isEmpty ? "" : ". \(finding.remedy)"
    self.init(severity: severity, message: place + finding.what + remedy)
  }
}
