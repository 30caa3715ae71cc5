import Annals
import AnnalsExchange
import ArgumentParser

struct StateCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "state", abstract: "Prints all objects, now or at any time in the past.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--at base"

  /// The output format of objects.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonl, csv, table
  }

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "The state as of this TOKEN; head if left out.")
  var at: String?
  @Option(parsing: .unconditional, help: "Only objects of this entity.") var entity: String?
  @Option(parsing: .unconditional, help: "jsonl, csv or table.") var format = Format.jsonl

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let snapshot = try console.snapshot(at, in: store)
    if let entity {
      guard !entity.isEmpty else { throw CommandFailure("--entity is empty", status: .usage) }
      try console.refuseBeforeFirst(snapshot, at: at, store)
    }
    if format == .jsonl {
      var state = CanonicalState(snapshot)
      // Where no terminal shows it, the canonical form is exact: it is compared by its bytes.
      let isShown = console.terminal.isOutput
      try state.write(entity: entity) { lines in
        try isShown ? console.output.write(lines) : console.output.write(exactly: lines)
      }
      return .done
    }
    var entities = snapshot.schema.liveEntities
    entities.sort { $0.name.precedesInBytes($1.name) }
    if let entity { entities = [try snapshot.entity(named: entity)] }
    let writer = TableWriter(snapshot, console)
    switch format {
    case .csv: try writer.writeCSV(entities)
    default: try writer.writeTables(entities)
    }
    return .done
  }
}

extension Console {
  /// The snapshot that `--at` names. With `objects`, only keys, relationships and the values of
  /// these objects are valid.
  func snapshot(
    _ at: String?, in store: Store, withOnly objects: Set<ObjectReference>? = nil
  ) throws -> Snapshot {
    let number = try at.map { try self.number($0, in: store) } ?? store.token.number
    return try store.version.snapshot(at: number, withOnly: objects)
  }
}
