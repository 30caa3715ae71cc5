import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser

struct BlameCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "blame", abstract: "Prints who last set each property of an object.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--at base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7.") var object: String
  @Option(parsing: .unconditional, help: "As of this TOKEN; head if left out.")
  var at: String?

  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let snapshot = try console.snapshot(at, in: store, withOnly: [])
    try console.refuseBeforeFirst(snapshot, at: at, store)
    let blame = try store.version.blame(
      try find(in: snapshot, store), at: snapshot.number, readingLargeValues: false)
    switch format {
    case .text: try writeText(blame, snapshot, store, console)
    case .jsonl: try writeLines(blame, snapshot, console)
    }
    return .done
  }

  /// The object as of the position, otherwise the one of that name that was deleted last.
  private func find(in snapshot: Snapshot, _ store: Store) throws -> ObjectID {
    let argument = try ObjectArgument(object)
    do {
      return try argument.find(in: snapshot).id(in: store)
    } catch let failure as RequestFault {
      let former = try? argument.findAll(inHistoryOf: store).map { $0.id(in: store) }
      let found = former?.first { (try? store.blame($0, at: snapshot.token)) != nil }
      guard let found else { throw failure }
      return found
    }
  }

  private func writeText(
    _ blame: Blame, _ snapshot: Snapshot, _ store: Store, _ console: Console
  ) throws {
    let text = TransactionText(console, limit: 200)
    var rows: [[String]] = []
    func add(_ transaction: Transaction?, _ what: String) {
      guard let transaction else {
        let origin = store.base.number > 0 ? "at or before \(store.base.number)" : "default"
        return rows.append(["-", origin, "", what])
      }
      let record = transaction.page.batch.transactions[transaction.index]
      rows.append([
        "\(transaction.number)", console.zone.text(record.timestamp),
        ValueText.plain(transaction.author ?? ""), what,
      ])
    }
    if let deletion = blame.deletion { add(deletion, "deleted; before that it had") }
    for line in blame {
      let shown = try text.values.beginning(of: line.value, in: snapshot.reader)
      let value = try text.text(shown) { () throws(AnnalsError) in snapshot.reader }
      add(line.transaction, "\(ValueText.plain(line.property)): \(value)")
    }
    let widths = (0..<3).map { column in rows.map { $0[column].cells }.max() ?? 0 }
    for row in rows {
      let date = row[1].padded(right: widths[1])
      try console.output.line(
        row[0].padded(left: widths[0]), .heading,
        "  \(date)  \(row[2].padded(right: widths[2]))  \(row[3])")
    }
  }

  private func writeLines(_ blame: Blame, _ snapshot: Snapshot, _ console: Console) throws {
    let entity = snapshot.schema.entity(named: try ObjectArgument(object).entity)
    var json = JSONWriter()
    for line in blame {
      json.beginObject()
      json.member("property", line.property)
      json.key("value")
      let type = entity?.attribute(named: line.property)?.type ?? .any
      if case .large = line.value {
        try json.value(line.value, as: type, from: snapshot.reader.largeValues) {
          try console.output.write($0.bytes)
          $0.removeBytes()
        }
      } else {
        try json.value(line.value, as: type, in: snapshot.reader)
      }
      origin(of: line.transaction, in: &json)
      if let deletion = blame.deletion { json.member("deleted", deletion.number) }
      json.endObjectLine()
    }
    try console.output.write(json.bytes)
  }

  private func origin(of transaction: Transaction?, in json: inout JSONWriter) {
    guard let transaction else { return }
    let record = transaction.page.batch.transactions[transaction.index]
    json.member("n", transaction.number)
    json.member("timestamp", record.timestamp.description)
    if let author = transaction.author { json.member("author", author) }
  }
}
