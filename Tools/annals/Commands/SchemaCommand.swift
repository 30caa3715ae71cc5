import Annals
import AnnalsInspector
import ArgumentParser

struct SchemaCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints or draws the entities, their properties, rules, inverses and indexes.",
    discussion: """
      As text, one property a line, and then the migrations that the store has made; as JSON, as \
      import --schema reads it; or as a picture, with a \
      box for each entity and an arrow for each relationship.

      \(Vocabulary.token)
      """)
  static let beginningAtBase: String? = "--at base"

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "The schema as of this TOKEN; head if left out.")
  var at: String?
  @Option(parsing: .unconditional, help: "text or json; text if left out.") var format: Format?
  @OptionGroup var picture: PictureOptions

  func validate() throws {
    guard picture.svg == nil || format == nil else {
      throw ValidationError("--svg draws a picture, --format is for text: leave one out")
    }
    try picture.check()
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let number = try at.map { try console.number($0, in: store) } ?? store.token.number
    if picture.svg != nil {
      let drawn = SchemaPicture(store.version.glossary().schema(asOf: number))
      return try picture.write(drawn.svg, drawn.notes, console)
    }
    let document = document(of: store, at: number)
    switch format ?? .text {
    case .text: try SchemaCommand.write(document, console)
    case .json: try console.output.write(document.json)
    }
    return .done
  }

  /// What is printed.
  func document(of store: Store, at number: Int64) -> SchemaDocument {
    SchemaDocument(
      store.version,
      at: ShownMoment(number: number, head: store.token.number, base: store.base.number),
      format == .json ? .json : .text,
      command: CommandWords("schema", file).option("at", at))
  }

  /// Writes the text.
  static func write(_ document: SchemaDocument, _ console: Console) throws {
    for line in document.text.split(separator: "\n") {
      // Names of entities begin a line, properties and indexes are indented.
      let text = ValueText.plain(String(line))
      if line.hasPrefix(" ") {
        try console.output.line(text)
      } else {
        try console.output.line(text, .bold)
      }
    }
    if document.migrations.isEmpty { return }
    try console.output.line("migrations", .bold)
    for migration in document.migrations {
      let name = ValueText.plain(migration.name)
      try console.output.line("  \(name)  (transaction \(migration.number))")
    }
  }
}
