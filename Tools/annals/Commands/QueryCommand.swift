import Annals
import AnnalsExchange
import AnnalsQuery
import ArgumentParser

struct QueryCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Prints the objects of which a condition is true.",
    discussion: """
      A condition compares properties with values: title BEGINSWITH[cd] "mist" AND timestamp \
      BETWEEN {2019-10-01, 2019-11-01}. There are ==, !=, <, <=, >, >=, IN {…}, BETWEEN {low, \
      high}, BEGINSWITH, ENDSWITH, CONTAINS and LIKE (with * and ?), [c] and [d] behind them to \
      pass over case and accents, AND, OR, NOT, parentheses, and nil. place.name goes through a \
      to-one relationship. Dates without an offset are of the local zone. \(Vocabulary.token)
      """)

  @Argument(help: "The store.") var file: String
  @Argument(help: "The entity.") var entity: String
  @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition.")
  var condition: String?
  @Option(parsing: .unconditional, help: "Properties to sort by, as in -timestamp,title[c].")
  var sort: String?
  @Option(parsing: .unconditional, help: "At most so many.") var limit: Int?
  @Option(parsing: .unconditional, help: "Without so many at the beginning.") var offset = 0
  @Flag(help: "Print how many there are.") var count = false
  @Flag(help: "Print which index serves, and why, in place of objects.") var explain = false
  @Option(parsing: .unconditional, help: "The state as of this TOKEN; head if left out.")
  var at: String?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit is a number from 0") }
    if offset < 0 { throw ValidationError("--offset is a number from 0") }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let snapshot = try console.snapshot(at, in: store)
    let reader = snapshot.reader
    let found = try reader.entity(named: entity)
    var wanted: Condition?
    if let condition {
      wanted = try QueryCommand.reading("--where") { () throws(ConditionTextError) in
        try ConditionParser.parse(
          condition, over: found, in: snapshot.schema, zone: console.zone.offset)
      }
    }
    var keys: [SortKey] = []
    if let sort {
      keys = try QueryCommand.reading("--sort") { () throws(ConditionTextError) in
        try ConditionParser.parseSortKeys(sort, over: found, in: snapshot.schema)
      }
    }
    let query = RowQuery(
      entity: found.number, condition: wanted ?? .always, keys: count ? [] : keys,
      areTiesDescending: !count && keys.last?.isDescending ?? false, limit: limit, offset: offset)
    if explain {
      try console.output.line(try reader.plan(query).description)
      return .done
    }
    if count {
      let all = max(0, try reader.countAll(query) - offset)
      try console.output.line("\(min(all, limit ?? all))")
      return .done
    }
    let rows = try reader.rows(query)
    var state = CanonicalState(snapshot)
    for row in rows {
      try state.write(
        ObjectReference(ObjectID(store: reader.store, entity: found.number, row: row))
      ) {
        try console.output.write($0)
      }
    }
    return .done
  }

  /// Runs `body`, with what is wrong with the text of an option as a mistake of usage.
  private static func reading<T>(
    _ option: String, _ body: () throws(ConditionTextError) -> T
  ) throws(CommandFailure) -> T {
    do throws(ConditionTextError) {
      return try body()
    } catch {
      throw CommandFailure("\(option), \(error)", status: .usage)
    }
  }
}
