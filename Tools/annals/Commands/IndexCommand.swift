import Annals
import AnnalsInspector
import ArgumentParser

struct IndexCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Lists, adds and drops indexes.",
    discussion: """
      annals index FILE [list [ENTITY]]
      annals index FILE add ENTITY NAME -- KEYS
      annals index FILE drop ENTITY NAME

      KEYS are attributes as in --sort of annals query: -timestamp,title sorts by timestamp, \
      newest first, then by title. With --where the index has only the objects that meet a \
      condition: comparisons of attributes with values, joined by AND. With --unique no two \
      objects may have the same values. With --box it serves ranges of all its attributes at once, \
      two to eight numbers or dates, but no order: --box -- latitude,longitude. Adding and \
      dropping an index is a transaction; it does not change any object or past state.
      """)

  /// The action.
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case list, add, drop
  }

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "list, add or drop.") var action: Action = .list
  @Argument(help: "The entity, the index's name, and its keys.") var names: [String] = []
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: "Only objects that meet this condition.")
  var condition: String?
  @Flag(help: "No two objects may have the same values.") var unique = false
  @Flag(help: "Index ranges of several attributes at once.") var box = false
  @OptionGroup var author: AuthorArguments

  func validate() throws {
    let expected =
      switch action {
      case .list: 0...1
      case .add: 3...3
      case .drop: 2...2
      }
    guard expected.contains(names.count) else {
      throw ValidationError(
        action == .add
          ? "add takes ENTITY NAME -- KEYS"
          : action == .drop
            ? "drop takes ENTITY NAME"
            : "list takes an ENTITY or none")
    }
    if action != .add, unique || box || condition != nil {
      throw ValidationError("--unique, --box and --where are for add")
    }
    if unique, !kind.givesOrder { throw ValidationError("a \(kind.title) cannot be unique") }
  }

  private var kind: IndexKind { box ? .box : .ordered }

  func run(_ console: Console) throws -> ExitStatus {
    if action == .list { return try list(console) }
    let store = try console.openForChanging(file)
    defer { try? store.close() }
    let commit = try store.commit(author: console.author(author.author), metadata: author.metadata)
    { tx -> [String] in
      if action == .add { return try add(to: tx, console) }
      try drop(from: tx)
      return []
    }
    try store.close()
    try console.lineOfTransaction(commit.token.number)
    for name in commit.value {
      console.report(
        "\(name) is of type any: the index serves what is equal to a value or nil, but no ranges "
          + "and no order")
    }
    return .done
  }

  /// Adds the index; returns its attributes of type `any`.
  private func add(to transaction: WriteTransaction, _ console: Console) throws -> [String] {
    let entity = try transaction.reader.entity(named: names[0])
    if entity.indexes.contains(where: { $0.name.hasSameBytes(as: names[1]) }) {
      throw CommandFailure("\(entity.name) has an index `\(names[1])`; drop it first")
    }
    let texts = OptionTexts(over: entity, in: transaction.schema)
    let elements = try texts.sortKeys(names[2], of: "KEYS").map { key in
      guard key.path.names.count == 1, entity.attribute(named: key.path.names[0]) != nil,
        key.textOrder == .binary
      else {
        throw CommandFailure(
          "an index is by attributes of the object itself and the bytes of texts, not by \(key)",
          status: .usage)
      }
      return IndexElement(
        key.path.names[0], isDescending: key.isDescending, nullsFirst: key.areNilsFirst)
    }
    let wanted = try condition.map {
      try texts.condition($0, zone: console.zone, now: console.now())
    }
    var index = IndexDescription(names[1], elements, isUnique: unique, where: wanted)
    index.kind = kind
    let attributes = entity.attributes.filter { !$0.isRemoved }
    try transaction.require(
      Schema(entities: [Entity(entity.name, attributes: attributes, indexes: [index])]))
    return elements.map(\.propertyName).filter { entity.attribute(named: $0)?.type == .any }
  }

  private func drop(from transaction: WriteTransaction) throws {
    let entity = try transaction.reader.entity(named: names[0])
    guard entity.indexes.contains(where: { $0.name.hasSameBytes(as: names[1]) }) else {
      if entity.attribute(named: names[1])?.isUnique == true {
        throw CommandFailure(
          "`\(names[1])` is the index of a unique attribute, and stays while that is unique")
      }
      let others = entity.indexes.map { "`\($0.name)`" }.joined(separator: ", ")
      throw CommandFailure(
        "\(entity.name) has no index `\(names[1])`"
          + (others.isEmpty ? "" : "; it has \(others)"))
    }
    try transaction.require(
      Schema(), edits: [.removeIndex(entity: entity.name, names[1])])
  }

  private func list(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let snapshot = store.snapshot()
    var entities = snapshot.schema.liveEntities
    entities.sort { $0.name.precedesInBytes($1.name) }
    if let name = names.first { entities = [try snapshot.reader.entity(named: name)] }
    let table = try RowTable(
      ["entity", "index", "keys", "unique", "entries", "built"], isCSV: false, console)
    var count = 0
    for entity in entities {
      for index in try snapshot.indexes(of: entity.name) {
        count += 1
        try table.write([
          entity.name, index.name,
          index.kind.prefix + index.keys.map(\.description).joined(separator: ",")
            + (index.condition.map { " where \($0)" } ?? ""),
          index.isUnique ? "yes" : "no", Numerals.grouped(index.entryCount),
          index.isBuilt ? "yes" : "when it is used",
        ])
      }
    }
    guard count > 0 else {
      try console.output.line("no indexes")
      return .done
    }
    try table.flush()
    return .done
  }
}
