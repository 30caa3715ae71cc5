import Annals
import AnnalsExchange
import ArgumentParser

struct SchemaCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the entities and their properties as JSON, as import --schema reads them.",
    discussion: Vocabulary.token)

  @Argument(help: "The store.") var file: String
  @Option(parsing: .unconditional, help: "The schema as of this TOKEN; head if left out.")
  var at: String?

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    try console.output.write(SchemaJSON.text(try console.snapshot(at, in: store).schema))
    return .done
  }
}
