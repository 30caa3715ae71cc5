import Annals
import AnnalsDescription
import AnnalsInspection
import ArgumentParser

struct StatCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "stat",
    abstract: "Prints one screen: counts, dates, and what the bytes are used for.",
    discussion: "Exits with 0, 1 if the file is damaged, 2 if it could not run.")

  @Argument(help: "The file.", completion: .file()) var file: String

  func run(_ console: Console) throws -> ExitStatus {
    let (report, statistics) = try StoreFile.with(path: file) { found in
      var verification = try StatisticsVerification(found.file)
      return try verification.run { _ in }
    }
    let store = try openedStore(console)
    defer { try? store?.close() }
    try StatText(statistics, console).write(file, store)
    guard report.isSound else {
      console.report(
        "\(file) is damaged: \(Numerals.counted(report.errors, "error")). See annals verify")
      return .foundProblems
    }
    return .done
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
