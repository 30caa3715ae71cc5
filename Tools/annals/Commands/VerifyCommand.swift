import Annals
import AnnalsInspector
import ArgumentParser

struct VerifyCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every byte of the file, then replays its history and compares.",
    discussion: """
      With --against OTHER also compares FILE with another file of the same store, a replica or a \
      copy: every transaction that both have, and the states. OTHER may end earlier or later, and \
      is only read; its own bytes are not all checked.

      Exits with 0 if nothing is wrong, 1 if there are findings, 2 if it could not run.
      """)
  static let damageWork = DamageWork.shows

  @Argument(help: "The file.", completion: .file()) var file: String
  @Option(
    parsing: .unconditional, help: "Another file of the store, to be compared with.",
    completion: .file())
  var against: String?

  func run(_ console: Console) throws -> ExitStatus {
    var verifying = Verifying(file)
    let write = { try console.output.line(VerifyCommand.text($0)) }
    try StoreFile.with(path: file) { found in
      if !found.isLocked {
        console.report("note: another process is writing to \(file); what it adds is not checked")
      }
      try verifying.checkBytes(of: found.file, write)
    }
    if verifying.document.isSound { try verifying.compareHistory(in: console.store, write) }
    var same: Int64?
    if let against, verifying.document.isSound {
      same = try verifying.compare(with: against, in: console.store, write)
    }
    try console.output.line(VerifyCommand.summary(verifying.document, same, as: against))
    let isClean = verifying.document.errors + verifying.document.warnings == 0
    return isClean ? .done : .foundProblems
  }

  /// A finding, with the command that it recommends.
  static func text(_ finding: FindingsDocument.Entry) -> String {
    // What is about the history has a place in the file by chance.
    let place = finding.subject == nil ? "" : finding.offset.map { " at \($0)" } ?? ""
    let remedy = finding.remedy.map { " (\($0))" } ?? ""
    return "\(finding.severity)\(place): \(finding.message)\(remedy)"
  }

  /// The last line. `same` is how far the file is the same as another one.
  static func summary(
    _ document: FindingsDocument, _ same: Int64? = nil, as other: String? = nil
  ) -> String {
    let transactions = document.transactions.map { Numerals.counted($0, "transaction") }
    if let transactions, document.errors + document.warnings == 0 {
      let comparison =
        same.flatMap { same in
          other.map { "; the same as \($0) up to transaction \(Numerals.grouped(same))" }
        } ?? ""
      return "no problems: \(transactions), \(Numerals.size(document.size ?? 0))\(comparison)"
    }
    return "\(Numerals.counted(document.errors, "error")), "
      + "\(Numerals.counted(document.warnings, "warning")); "
      + (transactions ?? "the history was not replayed")
  }
}
