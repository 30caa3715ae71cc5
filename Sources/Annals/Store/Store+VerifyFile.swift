import AnnalsEngine
import AnnalsInspection
import AnnalsLog
import AnnalsStorage

extension Store {
  /// Checks every byte of the store's file against its checksums, its rules and the rest of the
  /// file; then, if no error was found, replays the whole history and compares what comes out with
  /// what the store holds; and makes the projections that are registered anew and compares them.
  /// The same as `annals verify`, which knows no projections.
  ///
  /// A bit that has flipped anywhere in the file is found, also where no reading has come by it:
  /// large values, old transactions, root slots, padding. A store that damage keeps from being
  /// opened is found by the opening.
  ///
  /// Waits a moment for other writers to finish, and keeps them off meanwhile if it can. Costs
  /// reading the file twice and its whole history, once more if there are projections, and the
  /// memory of two states. Returns what it found; nothing, or notes only, if all is well. Throws if
  /// the store cannot be read.
  public func verify() throws(AnnalsError) -> [StoreFinding] {
    var findings = try verifyFile()
    if findings.contains(where: { $0.severity == .error }) { return findings }
    let isClean = !findings.contains { $0.severity == .warning }
    do throws(AnnalsError) {
      findings += try verifyHistory()
      if !findings.contains(where: { $0.severity == .error }) {
        findings += try verifyProjections()
      }
    } catch {
      // What a warning told before, such as a chunk to be made anew, may keep it from its end.
      guard error.code == .damaged || error.code == .missingData else { throw error }
      findings.append(
        isClean
          ? StoreFinding(severity: .error, message: "\(error)")
          : StoreFinding(severity: .note, message: "the history was not compared: \(error)"))
    }
    return findings
  }

  /// The physical half of `verify`.
  private func verifyFile() throws(AnnalsError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try AnnalsError.narrowing {
      try writer.log.withBytes { file, isLocked in
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
