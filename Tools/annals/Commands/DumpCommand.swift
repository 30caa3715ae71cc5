import Annals
import AnnalsDescription
import ArgumentParser

struct DumpCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Prints every frame of the file, or every byte; works on damaged files.",
    discussion: """
      Exits with 0 if all that it printed is in order; 1 if something is not, or if it reached the \
      end of the file and the log breaks off before that or was cut; 2 if it could not run. annals \
      verify checks the contents of frames.
      """)

  @Argument(help: "The file.", completion: .file()) var file: String
  @Flag(help: "Explain every byte.") var bytes = false
  @Option(parsing: .unconditional, help: "Begin with the frame that holds this byte.")
  var from: UInt64 = 0
  @Option(parsing: .unconditional, help: "At most this many frames.") var limit: Int?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit is a number from 0") }
  }

  func run(_ console: Console) throws -> ExitStatus {
    try StoreFile.with(path: file) { found in
      var options = DumpOptions()
      options.bytes = bytes
      options.from = from
      options.limit = limit
      options.style = format == .text ? .text : .jsonLines
      var dump = try FileDump(found.file, options: options)
      var failure: (any Error)?
      guard from < max(found.size, 1) else {
        throw CommandFailure(
          "\(file) has \(Numerals.counted(found.size, "byte")); there is none at \(from)")
      }
      let summary = try dump.run { lines in
        do {
          try console.output.write(lines)
          return true
        } catch {
          failure = error
          return false
        }
      }
      if let failure { throw failure }
      if summary.regions == 0, summary.problems > 0 {
        console.report("\(file) is empty: it has no header")
      }
      if let damage = summary.damage {
        console.report("\(file) is damaged: \(damage). See annals verify")
      }
      return summary.problems > 0 || summary.damage != nil ? .foundProblems : .done
    }
  }
}
