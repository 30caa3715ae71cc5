import Annals
import AnnalsInspection
import AnnalsInspector
import ArgumentParser

struct VerifyCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every byte of the file, then replays its history and compares.",
    discussion: "Exits with 0 if nothing is wrong, 1 if there are findings, 2 if it could not run.")
  static let damageWork = DamageWork.shows

  @Argument(help: "The file.", completion: .file()) var file: String

  func run(_ console: Console) throws -> ExitStatus {
    let report = try StoreFile.with(path: file) { found in
      if !found.isLocked {
        console.report("note: another process is writing to \(file); what it adds is not checked")
      }
      var verification = try PhysicalVerification(found.file)
      var failure: (any Error)?
      let report = try verification.run { finding in
        guard failure == nil else { return }
        do { try console.output.line(withCommand(finding.description)) } catch { failure = error }
      }
      if let failure { throw failure }
      return report
    }
    guard report.isSound else {
      try console.output.line(
        "\(Numerals.counted(report.errors, "error")), "
          + "\(Numerals.counted(report.warnings, "warning")); the history was not replayed")
      return .foundProblems
    }
    let found = try replay(console, isClean: report.warnings == 0)
    let errors = report.errors + found.errors
    let warnings = report.warnings + found.warnings
    let transactions = Numerals.counted(report.transactions, "transaction")
    guard errors + warnings > 0 else {
      try console.output.line(
        "no problems: \(transactions), \(Numerals.size(report.fileSize))")
      return .done
    }
    try console.output.line(
      "\(Numerals.counted(errors, "error")), \(Numerals.counted(warnings, "warning")); "
        + transactions)
    return .foundProblems
  }

  private func withCommand(_ finding: String) -> String {
    Remedy.withCommand(finding, of: file)
  }

  /// Replays the history and prints the findings. Returns how many are errors and warnings. If the
  /// bytes are not clean, damage that was reported before may end it early, with a note.
  private func replay(
    _ console: Console, isClean: Bool
  ) throws -> (errors: Int, warnings: Int) {
    var counts = (errors: 0, warnings: 0)
    do {
      // The findings of opening were reported with the bytes.
      let store = try Store(path: file, options: .readOnly, environment: console.store)
      defer { try? store.close() }
      let findings = try store.verifyHistory()
      let isErased = !findings.contains { $0.severity == .warning }
      let unfinished = try isErased ? [] : store.version.unfinishedErasures()
      for finding in findings {
        var text = withCommand("\(finding.severity): \(finding.message)")
        if let erasure = unfinished.first(where: { $0.message == finding.message }) {
          let shown = SummaryDocument.Unfinished(erasure, in: store.schema, at: file)
          text += " (\(shown.commands.joined(separator: "; ")))"
        }
        try console.output.line(text)
        if finding.severity == .error { counts.errors += 1 }
        if finding.severity == .warning { counts.warnings += 1 }
      }
    } catch let error as AnnalsError where error.code == .damaged || error.code == .missingData {
      let text =
        isClean ? withCommand("error: \(error)") : "note: the history was not compared: \(error)"
      try console.output.write(text + "\n")
      if isClean { counts.errors += 1 }
    }
    return counts
  }
}
