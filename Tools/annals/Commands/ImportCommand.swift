import Annals
import AnnalsExchange
import ArgumentParser
import Foundation

struct ImportCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract:
      "Reads transactions from JSON Lines or from git; creates the file if there is none.",
    discussion: """
      CHANGES is a file of JSON Lines, plain or gzip-compressed, or - for standard input. Entities \
      and attributes are inferred as they appear, unless --schema gives them. A string or nested \
      value may have 256 MiB, a line's metadata 4 MiB. With --git, every commit of the branch's \
      first-parent history becomes a transaction; running it again adds new commits.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The JSON Lines.", completion: .file()) var changes: String?
  @Option(parsing: .unconditional, help: "A schema, as annals schema prints it.") var schema:
    String?
  @Option(parsing: .unconditional, help: "A git repository to read instead.") var git: String?
  @Option(
    parsing: .unconditional,
    help: "The branch, or a tag or commit. Default: what is checked out.")
  var branch: String?

  func validate() throws {
    guard (changes == nil) != (git == nil) else {
      throw ValidationError("give CHANGES, or --git REPOSITORY")
    }
    if git != nil, schema != nil { throw ValidationError("--schema does not go with --git") }
    if git == nil, branch != nil { throw ValidationError("--branch goes with --git") }
  }

  func run(_ console: Console) throws -> ExitStatus {
    if let git { return try importGit(git, console) }
    return try importLines(changes ?? "-", console)
  }

  private func importLines(_ path: String, _ console: Console) throws -> ExitStatus {
    let input = try source(path, console)
    let lines = HistoryImport(
      UnpackingSource(input.source), into: .file(file), options: .deferred,
      environment: console.store)
    lines.onOpening = { console.report($0.findings, of: file) }
    if let schema { lines.require(try readSchema(schema, console)) }
    let bar = ProgressBar(console, noun: "transaction")
    defer { bar.remove() }
    do {
      while try lines.next() {
        let read = (input.source as? FileSource)?.count
        let fraction = input.size.flatMap { size in
          read.map { Double($0) / Double(max(size, 1)) }
        }
        bar.update(count: lines.count, fraction: fraction)
      }
    } catch let failure as HistoryImport.Failure {
      bar.remove()
      try lines.store?.close()
      throw CommandFailure(
        "\(name(of: path)):\(failure.line): \(failure.reason). "
          + (lines.count == 0
            ? "Nothing was imported."
            : "\(Numerals.counted(lines.count, "transaction")) before it "
              + "\(lines.count == 1 ? "was" : "were") imported."),
        status: .foundProblems)
    } catch var error as AnnalsError where lines.count > 0 && error.code != .outcomeUnknown {
      bar.remove()
      error.message +=
        ". \(Numerals.counted(lines.count, "transaction")) before it "
        + "\(lines.count == 1 ? "was" : "were") imported"
      throw error
    }
    bar.remove()
    let head = lines.store?.token.number ?? 0
    try lines.store?.close()
    try console.output.line(
      "imported \(Numerals.counted(lines.count, "transaction")); the newest is \(head)")
    return .done
  }

  private func readSchema(_ path: String, _ console: Console) throws -> Schema {
    do {
      return try SchemaJSON.read(try source(path, console).source)
    } catch let fault as InputFault {
      throw CommandFailure(
        "\(name(of: path)) is no schema: \(fault.reason) (at byte \(fault.offset)). "
          + "annals schema prints the form that is read")
    }
  }

  /// The name of the file at a path in messages; `-` is standard input.
  private func name(of path: String) -> String { path == "-" ? "<stdin>" : path }

  /// The bytes of a file and its size, or those of standard input.
  private func source(
    _ path: String, _ console: Console
  ) throws -> (source: any ByteSource, size: UInt64?) {
    if path == "-" { return (console.input(), nil) }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
      !isDirectory.boolValue, let handle = FileHandle(forReadingAtPath: path)
    else {
      let reason = isDirectory.boolValue ? "is a directory" : "cannot be read, or is not there"
      throw CommandFailure("\(path) \(reason). Give a file of JSON Lines, or - for standard input")
    }
    let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
    return (FileSource(handle), size?.uint64Value)
  }
}
