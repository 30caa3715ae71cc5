import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser

struct DiffCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Prints the net difference between two states.",
    discussion: """
      + is an object that was inserted, - one that was deleted, ~ one that changed, and ± one that \
      was deleted while another was inserted under the same key: the properties in which the two \
      differ. In JSON Lines these are a delete and an insert.

      \(Vocabulary.token)
      """)
  static let beginningAtBase: String? = "base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The first state, a TOKEN; or A..B.") var first: String
  @Argument(help: "The second state; head if left out.") var second: String?
  @Option(
    parsing: .unconditionalSingleValue, help: "Only objects of this entity; may be repeated.")
  var entity: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "Only this OBJECT; may be repeated.")
  var object: [String] = []
  @Flag(name: .customLong("exit-code"), help: "Exit with 1 if the states differ.")
  var tellsByExitCode = false
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    var (from, to) = (first, second ?? "head")
    if second == nil, first.contains("...") {
      throw CommandFailure(RangeArgument.fault(in: first, of: file), status: .usage)
    }
    if second == nil, let range = RangeArgument(first) { (from, to) = (range.from, range.to) }
    let start = try console.number(from, in: store)
    let end = try console.number(to, in: store)
    let text = TransactionText(console, limit: 200)
    let showing = DiffCommand.showing(of: store)
    var json = JSONWriter()
    var isSame = true
    let filter = try filter(store)
    try store.version.forEachDifference(from: start, to: end, of: filter) { difference in
      isSame = false
      switch format {
      case .text:
        let shown = try showing.shown(difference)
        try text.write(shown, indent: "")
        try text.writeProperties(of: shown, indent: "    ")
      case .jsonl:
        for change in [difference.change, difference.successor].compactMap(\.self) {
          try DiffCommand.write(change, of: difference, &json, console)
        }
      }
    }
    return tellsByExitCode && !isSame ? .foundProblems : .done
  }

  /// Which objects are wanted.
  private func filter(_ store: Store) throws -> (ObjectReference) -> Bool {
    for name in entity where !store.version.glossary().knowsEntity(name) {
      throw CommandFailure(unknownEntity: name, store)
    }
    let schemas = store.version.glossary().schemas
    let entities = Set(entity.flatMap { schemas.entities(everNamed: $0) })
    let objects = Set(try object.flatMap { try ObjectArgument($0).findAll(inHistoryOf: store) })
    return { [entity, object] in
      (entity.isEmpty || entities.contains($0.entity)) && (object.isEmpty || objects.contains($0))
    }
  }

  private static func write(
    _ change: Change, of difference: ObjectDifference, _ json: inout JSONWriter, _ console: Console
  ) throws {
    try json.change(change, explicitRow: false, includesBefore: true) { () throws(AnnalsError) in
      change.kind == .delete ? difference.old : difference.new
    } flush: {
      try console.output.drain(&$0)
    }
    json.endLine()
    try console.output.drain(&json)
  }

  /// What the text shows of changes.
  static func showing(of store: Store) -> ChangeShowing {
    ChangeShowing(values: .ofChanges(in: store, compared: 200))
  }
}
