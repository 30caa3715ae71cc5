import Annals
import AnnalsExchange
import ArgumentParser

struct SchemaCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the entities and their properties as JSON, as import --schema reads them.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--at base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "The schema as of this TOKEN; head if left out.")
  var at: String?

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let number = try at.map { try console.number($0, in: store) } ?? store.token.number
    try console.output.write(SchemaJSON.text(store.version.glossary().schema(asOf: number)))
    return .done
  }
}
