import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser
import Foundation

struct ImportCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract:
      "Reads transactions from JSON Lines or from git; creates the file if there is none.",
    discussion: """
      CHANGES is a file of JSON Lines, plain or gzip-compressed, or - for standard input. In a new \
      or empty store entities and attributes are inferred as they appear, unless --schema gives \
      them; if a line cannot be imported, no new file is left. A store that has entities gets \
      others, and attributes, only with --new, and values of another type than their attribute's \
      only with --widen, unless a line of an export says so; the transactions before a line that \
      cannot be imported stay. A string or nested value may have 256 \
      MiB, a line's metadata 4 MiB. With --git, every commit of the branch's first-parent history \
      becomes a transaction; running it again adds new commits.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The JSON Lines.", completion: .file()) var changes: String?
  @Option(
    parsing: .unconditional, help: "A schema, as annals schema --format json prints it.",
    completion: .file())
  var schema: String?
  @Flag(help: "Add entities and attributes to a store that has entities.") var new = false
  @Flag(help: "Widen attributes of such a store to any type for values of other types.")
  var widen = false
  @Option(
    parsing: .unconditional, help: "A git repository to read instead.", completion: .directory)
  var git: String?
  @Option(
    parsing: .unconditional,
    help: "The branch, or a tag or commit. Default: what is checked out.")
  var branch: String?

  func validate() throws {
    guard changes == nil || git == nil else {
      throw ValidationError("give one of the two: CHANGES, or --git REPOSITORY")
    }
    guard changes != nil || git != nil else {
      throw ValidationError("give CHANGES, or --git REPOSITORY")
    }
    if git != nil, schema != nil { throw ValidationError("--schema does not go with --git") }
    if git == nil, branch != nil { throw ValidationError("--branch goes with --git") }
    if git != nil || schema != nil, new || widen {
      throw ValidationError("--new and --widen go with lines whose schema is inferred")
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    if let git { return try importGit(git, console) }
    return try importLines(changes ?? "-", console)
  }

  private func importLines(_ path: String, _ console: Console) throws -> ExitStatus {
    let input = try source(path, "a file of JSON Lines", console)
    // A new store gets its name when all lines are in it.
    let new = try NewStore.unlessTaken(file)
    if new == nil { try console.refuseReplica(at: file) }
    var options = StoreOptions.deferred
    // Called on this thread. A schema may add what is computed for all objects of the store.
    nonisolated(unsafe) let objects = ProgressBar(console, noun: "object")
    options.progress = { objects.update(count: $0.count, fraction: $0.fraction) }
    let lines = HistoryImport(
      UnpackingSource(input.source), into: new?.location ?? .file(file), options: options,
      environment: console.store)
    lines.onOpening = { console.report($0.findings, of: file) }
    lines.growth = PutPermissions(newNames: self.new, widening: widen).growth
    let bar = ProgressBar(console, noun: "transaction")
    defer { bar.remove() }
    defer { objects.remove() }
    do {
      if let schema { lines.require(try readSchema(schema, console)) }
      while try lines.next() {
        let read = (input.source as? FileSource)?.count
        let fraction = input.size.flatMap { size in
          read.map { Double($0) / Double(max(size, 1)) }
        }
        bar.update(count: lines.count, fraction: fraction)
      }
    } catch {
      bar.remove()
      objects.remove()
      throw try explained(error, lines, into: new, from: path, console)
    }
    bar.remove()
    objects.remove()
    let head = lines.store?.token.number ?? 0
    if let store = lines.store { try new?.place(store) ?? store.close() }
    report(lines, console)
    try console.output.line(
      "imported \(Numerals.counted(lines.count, "transaction")); the newest is \(head)")
    return .done
  }

  /// Closes the store after an error, and removes it if it is new; returns the error with what was
  /// imported.
  private func explained(
    _ error: any Error, _ lines: HistoryImport, into new: NewStore?, from path: String,
    _ console: Console
  ) throws -> any Error {
    var outcome = "Nothing was imported"
    if let new {
      new.discard(lines.store)
    } else if error is HistoryImport.Failure {
      try lines.store?.close()
    }
    if lines.count > 0, new == nil {
      outcome =
        lines.count == 1
        ? "1 transaction was imported, of line \(lines.lastLine)"
        : "\(Numerals.counted(lines.count, "transaction")) were imported, up to line "
          + "\(lines.lastLine)"
      report(lines, console)
    }
    if let failure = error as? HistoryImport.Failure {
      let end = failure.reason.hasSuffix("?") ? "" : "."
      return CommandFailure(
        "\(name(of: path)):\(failure.line): \(failure.reason)\(end) \(outcome).",
        status: .foundProblems)
    }
    guard var error = error as? AnnalsError, lines.count > 0, error.code != .outcomeUnknown else {
      return error
    }
    error.message += ". \(outcome)"
    return error
  }

  /// Reports what the lines added to the schema, and a date in the future.
  private func report(_ lines: HistoryImport, _ console: Console) {
    console.report(notes: lines.notes)
    guard let latest = lines.latest, latest > console.now() else { return }
    console.report(
      "note: the latest line is dated \(console.zone.text(latest)), in the future: until then its "
        + "date does not count")
  }

  private func readSchema(_ path: String, _ console: Console) throws -> Schema {
    do {
      return try SchemaJSON.read(
        try source(path, "a schema, as annals schema --format json prints it", console).source)
    } catch let fault as InputFault {
      throw CommandFailure(
        "\(name(of: path)) is no schema: \(fault.reason) (at byte \(fault.offset)). "
          + "annals schema --format json prints the form that is read")
    }
  }

  /// The name of the file at a path in messages; `-` is standard input.
  private func name(of path: String) -> String { path == "-" ? "<stdin>" : path }

  /// The bytes of a file and its size, or those of standard input. `wanted` is what the file should
  /// be.
  private func source(
    _ path: String, _ wanted: String, _ console: Console
  ) throws -> (source: any ByteSource, size: UInt64?) {
    if path == "-" { return (console.input(), nil) }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
      !isDirectory.boolValue, let handle = FileHandle(forReadingAtPath: path)
    else {
      let reason = isDirectory.boolValue ? "is a directory" : "cannot be read, or is not there"
      throw CommandFailure("\(path) \(reason). Give \(wanted), or - for standard input")
    }
    let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
    return (FileSource(handle), size?.uint64Value)
  }
}
