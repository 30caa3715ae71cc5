import Annals
import AnnalsInspector
import AnnalsShipping
import AnnalsStorage
import ArgumentParser

struct RestoreCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a store again, as of any moment, from the folder that annals ship has filled.",
    discussion: """
      annals restore FOLDER OUT [--at TOKEN]
      annals restore FOLDER --list

      The new file is the same store, with the same UUID and numbers. Everything that is read is \
      checked. If a file of the folder is missing or damaged, it is named, with the last \
      transaction that can be restored without it.

      """ + Vocabulary.token)

  /// Salvaging and verifying are about stores, not folders.
  static let damageWork = DamageWork.saves

  @Argument(help: "The folder.", completion: .directory) var folder: String
  @Argument(help: "The new file; it must not exist.", completion: .file()) var out: String?
  @Option(parsing: .unconditional, help: "The moment; the newest if left out: a TOKEN.")
  var at: String?
  @Flag(help: "Only list what the folder has.") var list = false

  func validate() throws {
    if list, out != nil || at != nil { throw ValidationError("--list goes with FOLDER alone") }
    if !list, out == nil { throw ValidationError("name the new file, or say --list") }
  }

  func run(_ console: Console) throws -> ExitStatus {
    guard let out, !list else { return try show(console) }
    let token = try at.map { try console.token($0) }
    let report = try Store.restore(
      from: ShippingFolder(folder), to: out, in: PosixFileSystem(), environment: console.store,
      at: token.map { token in
        { store in
          // A store as of before its first transaction would be empty.
          do {
            _ = try at.map { try console.transactionNumber($0, in: store) }
          } catch let failure as CommandFailure {
            throw AnnalsError(.invalidArgument, failure.message)
          }
          return try RestoredPoint(token, in: store, console)
        }
      })
    for problem in report.problems { console.report("\(folder): \(problem)") }
    let date = console.zone.text(report.timestamp)
    let beyond =
      report.newest > report.number
      ? "; the folder goes on to \(Numerals.grouped(report.newest))" : ""
    let anew =
      report.isRewritten
      ? ". It lies within a block, so the file was written anew, without consumers" : ""
    try console.output.line(
      "\(out): up to transaction \(Numerals.grouped(report.number)) of \(date), "
        + "\(Numerals.size(report.bytes)), verified\(beyond)\(anew)")
    return .done
  }

  private func show(_ console: Console) throws -> ExitStatus {
    let shipped = try ShippedStore(in: folder)
    try console.output.line("store \(RawUUID(shipped.id))")
    for base in shipped.bases {
      var line =
        "base \(base.number)  generation \(base.generation), transactions \(base.first) to "
        + "\(base.last)"
      if let date = base.timestamp { line += " of \(console.zone.text(date))" }
      line += ", \(Numerals.counted(Int64(base.segments), "segment")), \(Numerals.size(base.bytes))"
      try console.output.line(line)
      if let problem = base.problem { try console.output.line("    \(problem)") }
    }
    if shipped.otherFiles > 0 {
      try console.output.line(
        "\(Numerals.counted(Int64(shipped.otherFiles), "file")) that annals ship did not make")
    }
    return shipped.bases.contains { $0.problem != nil } ? .foundProblems : .done
  }
}

extension RestoredPoint {
  /// The point of a TOKEN.
  fileprivate init(_ token: TokenArgument, in store: Store, _ console: Console) throws {
    let place = try token.place(in: store.version, isEnd: true)
    let kind: Kind =
      switch token {
      case .number, .token, .mark(.base, _), .mark(.floor, _): .exact
      case .mark(.head, _): .fromEnd
      case .moment, .period: .date
      }
    self.init(try store.version.number(at: place, console.now), kind)
  }
}
