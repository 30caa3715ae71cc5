import AnnalsEngine
import AnnalsInspection
import AnnalsLog
import AnnalsStorage

extension Store {
  /// Verifies the store. Checks every byte of its file against its checksums, its rules and the
  /// rest of the file. If that finds no error, replays the whole history and compares the result
  /// with what the store holds, and rebuilds and compares the registered projections. The same as
  /// `annals verify`, which knows no projections.
  ///
  /// Finds a flipped bit anywhere in the file, even where nothing reads: large values, old
  /// transactions, root slots, padding. (A store that cannot be opened because of damage is
  /// reported by opening it.)
  ///
  /// Waits a moment for other writers to end, and locks them out meanwhile if it can. Reads the
  /// file twice and its whole history, once more if there are projections. Memory: two states.
  /// Returns the findings; nothing, or notes only, if all is well. Throws if the store cannot be
  /// read.
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
      // The damage that a warning has reported, such as a chunk to be rebuilt, may keep it from
      // ending.
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
