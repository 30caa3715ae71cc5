import Annals
import AnnalsInspector
import ArgumentParser

struct ShowCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints a transaction whole, or an object with its history.",
    discussion: Vocabulary.token)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "A TOKEN (42, head, 2019-10-22) or an OBJECT (Post/7, Post#7).")
  var what: String
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    if what.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "#") }) {
      try showObject(try ObjectArgument(what), store, console)
    } else {
      try checkTransaction(store)
      try showTransaction(try console.transactionNumber(what, in: store), store, console)
    }
    return .done
  }

  /// Refuses what is probably meant for another command.
  private func checkTransaction(_ store: Store) throws {
    if let range = RangeArgument(what) {
      throw CommandFailure(
        "`\(what)` is a range: annals log FILE \(range.from)..\(range.to)", status: .usage)
    }
    if store.schema.entity(named: what) != nil {
      throw CommandFailure(
        "`\(what)` is an entity: annals state FILE --entity \(what)", status: .usage)
    }
  }

  private func showTransaction(_ number: Int64, _ store: Store, _ console: Console) throws {
    guard number > store.base.number else {
      // The base is a state, not a transaction.
      if number == 0 { throw CommandFailure("the store has no transaction 0; the first is 1") }
      throw store.version.pruned(number)
    }
    var walk = try HistoryWalk(
      store, after: number - 1, through: number, condition: .always, isReversed: false)
    if format == .jsonl { return try LogCommand.writeLines(&walk, limit: 1, console) }
    let text = TransactionText(console, limit: 1000)
    let showing = TransactionShowing(
      ChangeShowing(values: ValueShowing.ofChanges(in: store, compared: 1000)))
    let history = History(
      version: store.version, after: number - 1, through: number, condition: .always)
    var cursor = try PartCursor(history)
    while let part = try cursor.next() {
      let changes = part.transaction.changes
      if part.record.part == 0 {
        try text.writeHead(showing.header(part.transaction, changes: changes.count))
        try text.writeMetadata(showing.metadata(of: part.transaction))
        try text.writeSchema(SchemaText.lines(of: part.transaction))
      }
      try write(changes, walk.states, showing, text)
    }
  }

  private func showObject(_ argument: ObjectArgument, _ store: Store, _ console: Console) throws {
    let objects = try argument.findAll(inHistoryOf: store).map { $0.id(in: store) }
    var walk = try HistoryWalk(
      store, after: store.base.number, through: store.token.number, condition: .touches(objects),
      isReversed: true)
    if format == .jsonl { return try LogCommand.writeLines(&walk, limit: .max, console) }
    let text = TransactionText(console, limit: 1000)
    let now = try store.version.snapshot(
      at: store.token.number,
      withOnly: [ObjectReference(entity: objects[0].entity, row: objects[0].row)])
    if let stored = try now.reader.object(
      objects[0], readingLargeValues: false, keepsGone: true)
    {
      let values = ValueShowing(
        .whole(large: ValueText.mostBytesShown), now.reader.largeValues,
        departed: DepartedNames(in: store.version))
      try ObjectText(text, values).write(stored, now.reader)
    } else {
      try console.output.line("\(ValueText.plain(argument.text)) was deleted")
    }
    let showing = TransactionShowing(
      ChangeShowing(values: ValueShowing.ofChanges(in: store, compared: 1000)))
    while let (transaction, changes) = try walk.nextTransaction() {
      try console.output.line()
      try text.writeHead(showing.header(transaction, changes: changes.count))
      try write(changes, walk.states, showing, text)
    }
  }

  /// Writes changes of a transaction, each with its properties.
  private func write(
    _ changes: some Sequence<Change>, _ states: NamingStates, _ showing: TransactionShowing,
    _ text: TransactionText
  ) throws {
    for change in changes {
      let shown = try showing.changes.shown(change, states)
      try text.write(shown)
      try text.writeProperties(of: shown)
    }
  }
}
