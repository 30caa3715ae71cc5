import Annals
import AnnalsDescription
import AnnalsInspection
import AnnalsInspector
import ArgumentParser

struct StatCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "stat",
    abstract: "Prints one screen: counts, dates, and what the bytes are used for.",
    discussion: "Exits with 0, 1 if the file is damaged, 2 if it could not run.")

  @Argument(help: "The file.", completion: .file()) var file: String

  func run(_ console: Console) throws -> ExitStatus {
    let (space, errors) = try space()
    let store = try openedStore(console)
    defer { try? store?.close() }
    try StatText(console).write(file, space, store.map { SummaryDocument($0, at: file) })
    guard errors == 0 else {
      console.report("\(file) is damaged: \(Numerals.counted(errors, "error")). See annals verify")
      return .foundProblems
    }
    return .done
  }

  /// What is in the file, and how many errors a verification of its bytes finds.
  func space() throws -> (document: SpaceDocument, errors: Int) {
    try StoreFile.with(path: file) { found in
      var verification = try StatisticsVerification(found.file)
      let (report, statistics) = try verification.run { _ in }
      let command = CommandWords("stat", file).text
      return (
        SpaceDocument(statistics, isSound: report.isSound, command: command), report.errors
      )
    }
  }

  /// The store, or nil if damage keeps it from opening. Throws if the file is of another kind.
  private func openedStore(_ console: Console) throws -> Store? {
    do {
      return try console.openForReading(file, holdingValues: false)
    } catch let error as AnnalsError {
      if error.code == .notAnAnnalsFile { throw error }
      return nil
    }
  }
}
