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
    let found = try find(in: snapshot, store)
    let blame = try store.version.blame(
      found, at: snapshot.number, readingLargeValues: false)
    let document = try self.document(blame, of: found, in: snapshot, store)
    switch format {
    case .text: try BlameText(console).write(document)
    case .jsonl: try writeLines(document, blame, snapshot, console)
    }
    return .done
  }

  /// What is printed; for `jsonl` without large values, which are printed whole.
  func document(
    _ blame: Blame, of object: ObjectID, in snapshot: Snapshot, _ store: Store
  ) throws -> BlameDocument {
    let limits = ShowingLimits.whole(large: format == .text ? ValueText.mostBytesShown : 0)
    return try BlameDocument(
      blame, of: try ShownObject(ObjectReference(object), in: snapshot.reader),
      at: ShownMoment(
        number: snapshot.number, head: store.token.number, base: store.base.number),
      in: snapshot.reader,
      ValueShowing(
        limits, snapshot.reader.largeValues, departed: DepartedNames(in: store.version)),
      command: CommandWords("blame", file).adding(self.object).option("at", at))
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

  /// Writes the lines with the whole values, which the document does not have.
  private func writeLines(
    _ document: BlameDocument, _ blame: Blame, _ snapshot: Snapshot, _ console: Console
  ) throws {
    let entity = snapshot.schema.entity(named: try ObjectArgument(object).entity)
    var json = JSONWriter()
    for (line, value) in zip(document.lines, blame.map(\.value)) {
      json.beginObject()
      json.member("property", line.property)
      json.key("value")
      let type = entity?.attribute(named: line.property)?.type ?? .any
      if case .large = value {
        try json.value(
          value, as: type, from: snapshot.reader.largeValues, console.output.drain)
      } else {
        try json.value(value, as: type, in: snapshot.reader)
      }
      if let origin = line.setBy {
        json.member("n", origin.number)
        json.member("timestamp", origin.timestamp)
        if let author = origin.author { json.member("author", author) }
      }
      if let deleted = document.deleted { json.member("deleted", deleted.number) }
      json.endObjectLine()
    }
    try console.output.write(json.bytes)
  }
}
