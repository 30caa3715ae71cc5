import Annals
import AnnalsInspector
import ArgumentParser

struct EraseCommand: RewritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Erases every value that an object ever had, past states included.",
    discussion: """
      Deletes the object, and rewrites the file without any value that it ever had. The history \
      keeps that something was erased, by whom and why. With --property it erases only that \
      property, now and in the past. It first prints what it would erase, then asks; without a \
      terminal it erases nothing unless --yes is given.

      It is effective once no process has the old file open. It does not reach copies, backups, \
      shipping folders (annals ship --forget-erased), exports, the blocks that the old file leaves \
      on the disk, metadata of transactions (their messages), and names of authors and contexts.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7, also a deleted one.") var object: String
  @Option(
    name: .customLong("property"), parsing: .unconditionalSingleValue,
    help: "Erase this property only; may be repeated.")
  var properties: [String] = []
  @Option(parsing: .unconditional, help: "The reason, which is kept.") var reason: String
  @Flag(name: .customLong("dry-run"), help: "Only print what would be erased.") var dryRun = false
  @Flag(help: "Do not ask.") var yes = false
  @Option(
    parsing: .unconditional, help: "Who erases. Default: $ANNALS_AUTHOR, else the login name.")
  var author: String?

  func run(_ console: Console) throws -> ExitStatus {
    let argument = try ObjectArgument(object)
    // Without --yes and without a terminal, nothing is written.
    let isPlan = dryRun || !(yes || console.canAsk)
    let store = try console.open(file, forWriting: !isPlan)
    defer { try? store.close() }
    if !isPlan { try console.refuseReplica(store, file) }
    // A history that cannot be read has been reported.
    for unfinished in (try? store.version.unfinishedErasures()) ?? [] {
      let shown = SummaryDocument.Unfinished(unfinished, in: store.schema, at: file)
      console.report(Remedy.text(of: shown))
    }
    let found = try find(argument, in: store)
    try checkProperties(of: found, in: store)
    try console.output.line(try text(of: found, in: store))
    if dryRun { return .done }
    guard try yes || console.confirms("Erase it for good?") else { return .done }
    let author = console.author(author)
    let id = found.id(in: store)
    let summary =
      properties.isEmpty
      ? try store.erase(id, reason: reason, author: author)
      : try store.erase(id, properties: properties, reason: reason, author: author)
    try store.close()
    try console.output.line(
      "erased in transaction \(summary.token.number); "
        + MaintenanceText.sizes(summary.bytesBefore, of: file))
    return .done
  }

  /// The object, which may be deleted. An object named by its row need not be in the history.
  private func find(_ argument: ObjectArgument, in store: Store) throws -> ObjectReference {
    if case .row(let name, let row) = argument, let entity = store.schema.entity(named: name) {
      return ObjectReference(entity: entity.number, row: row)
    }
    let found = try argument.findAll(inHistoryOf: store)
    guard found.count == 1 else {
      let list = found.map { "\(argument.entity)#\($0.row)" }.joined(separator: ", ")
      throw CommandFailure(
        "\(argument.text) is the name of \(found.count) objects, one after the other: \(list). "
          + "Say which")
    }
    return found[0]
  }

  /// Refuses names of properties that the object's entity does not have, and never had.
  private func checkProperties(of object: ObjectReference, in store: Store) throws {
    guard let entity = store.schema.entity(numbered: object.entity) else { return }
    for name in properties where entity.erasableProperties(named: name).isEmpty {
      throw CommandFailure(
        "\(entity.name) has no property \(name)"
          + NearName.hint(name, among: entity.propertyNames))
    }
  }

  private func text(of object: ObjectReference, in store: Store) throws -> String {
    let id = object.id(in: store)
    var condition = HistoryCondition.touches(id)
    if let first = properties.first {
      let touching = properties.dropFirst().reduce(HistoryCondition.touches(property: first)) {
        $0 || HistoryCondition.touches(property: $1)
      }
      condition = condition && touching
    }
    let count = try store.history(where: condition).count()
    let newest = try store.version.snapshot(at: store.token.number, withOnly: [])
    let lives = try newest.reader.object(id, readingLargeValues: false) != nil
    let name = name(of: object, in: store)
    guard properties.isEmpty else {
      let names = properties.map { ValueText.plain($0) }.joined(separator: ", ")
      return "erases \(names) of \(name), now and in \(Numerals.counted(count, "transaction"))"
    }
    return (lives ? "deletes \(name) and " : "") + "erases every value that "
      + (lives ? "it" : name) + " had, in \(Numerals.counted(count, "transaction"))"
  }

  private func name(of object: ObjectReference, in store: Store) -> String {
    let entity = store.schema.entity(numbered: object.entity)?.name ?? "#\(object.entity)"
    return "\(ValueText.plain(entity))#\(object.row)"
  }
}
