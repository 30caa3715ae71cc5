import Annals
import AnnalsExchange
import ArgumentParser

struct GetCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Prints one object, now or at any time in the past.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--at base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7.") var object: String
  @Option(parsing: .unconditional, help: "The state as of this TOKEN; head if left out.")
  var at: String?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let names = try console.snapshot(at, in: store, withOnly: [])
    try console.refuseBeforeFirst(names, at: at, store)
    let found = try ObjectArgument(object).find(in: names)
    let snapshot = try store.version.snapshot(at: names.number, withOnly: [found])
    if format == .jsonl {
      var state = CanonicalState(snapshot)
      try state.write(found) { try console.output.write($0) }
      return .done
    }
    guard let stored = try snapshot.object(found.id(in: snapshot)) else { return .couldNotRun }
    try ObjectText(TransactionText(console, limit: .max)).write(stored, snapshot.reader)
    return .done
  }
}
