import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser

struct GetCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Prints one object, now or at any time in the past.",
    discussion: """
      --raw NAME prints the bytes of one property and nothing else, as they are stored: of data, a \
      string, url or json of any length. --range 0-499 prints the first 500, 500- all from there, \
      -500 the last 500. It needs no more memory for more bytes.

      \(Vocabulary.token)
      """)
  static let beginningAtBase: String? = "--at base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7.") var object: String
  @Option(parsing: .unconditional, help: "The state as of this TOKEN; head if left out.")
  var at: String?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print the bytes of this property.", valueName: "name"))
  var raw: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Of these bytes, those from FIRST to LAST.", valueName: "first-last"))
  var range: String?

  func run(_ console: Console) throws -> ExitStatus {
    let range = try range.map { try ByteRange($0) }
    guard raw != nil || range == nil else {
      throw CommandFailure("--range belongs to --raw NAME", status: .usage)
    }
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let names = try console.snapshot(at, in: store, withOnly: [])
    try console.refuseBeforeFirst(names, at: at, store)
    let found = try ObjectArgument(object).find(in: names)
    let snapshot = try store.version.snapshot(at: names.number, withOnly: [found])
    if let raw { return try write(raw, of: found, range, snapshot, console) }
    if format == .jsonl {
      var state = CanonicalState(snapshot)
      try state.write(found) { try console.output.write($0) }
      return .done
    }
    let stored = try snapshot.reader.object(
      found.id(in: snapshot), readingLargeValues: false, keepsGone: true)
    guard let stored else { return .couldNotRun }
    let showing = ValueShowing(
      .whole(large: .max), snapshot.reader.largeValues, departed: DepartedNames(in: store.version))
    try ObjectText(TransactionText(console, limit: .max), showing).write(stored, snapshot.reader)
    return .done
  }

  /// Writes the bytes of one property.
  private func write(
    _ name: String, of object: ObjectReference, _ range: ByteRange?, _ snapshot: Snapshot,
    _ console: Console
  ) throws -> ExitStatus {
    guard format == .text else {
      throw CommandFailure("--raw writes bytes, and has no --format", status: .usage)
    }
    guard !console.terminal.isOutput else {
      throw CommandFailure(
        "--raw writes bytes as they are, which can act on a terminal; send them to a file or a "
          + "pipe: annals get … --raw \(name) > FILE", status: .usage)
    }
    guard let bytes = try snapshot.bytes(name, of: object.id(in: snapshot)) else {
      throw CommandFailure("\(self.object) has no \(name)")
    }
    try bytes.forEachPiece(in: range?.range(in: bytes.count)) {
      try console.output.write(exactly: ContiguousArray($0))
    }
    return .done
  }
}
