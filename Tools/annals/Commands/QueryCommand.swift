import Annals
import AnnalsExchange
import AnnalsInspector
import AnnalsQuery
import ArgumentParser

struct QueryCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Prints the objects that meet a condition.",
    discussion: """
      A condition compares properties with values: title BEGINSWITH[cd] "mist" AND timestamp \
      BETWEEN {2019-10-01, 2019-11-01}. There are ==, !=, <, <=, >, >=, IN {a, b}, BETWEEN {low, \
      high}, BEGINSWITH, ENDSWITH, CONTAINS and LIKE (with * and ?), [c] and [d] after them to \
      ignore case and accents, AND, OR, NOT, parentheses, and nil. place.name follows a to-one \
      relationship; of a to-many one there are tags CONTAINS Tag#5, ANY tags.name == "food" and \
      ANY tags (name == "food" AND rank > 3). Dates without an offset are in the local zone; now, \
      today, yesterday and ages (90m, 12h, 30d, 2w, 1y) are dates, too: timestamp > 7d.

      --group-by day:timestamp counts the objects of each day of the local zone, in the order of \
      days (--sort -timestamp reverses it); --limit and --offset then count groups.

      \(Vocabulary.token)
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The entity.") var entity: String
  @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition.")
  var condition: String?
  @Option(parsing: .unconditional, help: "Properties to sort by, as in -timestamp,title[c].")
  var sort: String?
  @Option(parsing: .unconditional, help: "At most this many.") var limit: Int?
  @Option(parsing: .unconditional, help: "Skip this many first.") var offset = 0
  @Flag(help: "Print how many there are.") var count = false
  @Flag(help: "Print the query plan instead of objects.") var explain = false
  @Option(parsing: .unconditional, help: "Print only these, as in title,place.name.")
  var properties: String?
  @Option(
    parsing: .unconditional,
    help: "Print groups: by a property, or by hour:, day:, week:, month: or year: of a date.")
  var groupBy: String?
  @Option(parsing: .unconditionalSingleValue, help: "The sum of a property in each group.")
  var sum: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "The mean of a property in each group.")
  var average: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "The least value in each group.")
  var minimum: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "The greatest value in each group.")
  var maximum: [String] = []
  @Option(parsing: .unconditional, help: "jsonl, csv or table.")
  var format = StateCommand.Format.jsonl
  @Option(parsing: .unconditional, help: "The state as of this TOKEN; head if left out.")
  var at: String?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit is a number from 0") }
    if offset < 0 { throw ValidationError("--offset is a number from 0") }
    if isGrouped, count || properties != nil {
      throw ValidationError("groups have their own columns: leave --count or --properties out")
    }
  }

  /// Whether groups are printed instead of objects. Without `--group-by` all objects are one group.
  var isGrouped: Bool {
    groupBy != nil || !(sum + average + minimum + maximum).isEmpty
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let snapshot = try console.snapshot(at, in: store)
    try console.refuseBeforeFirst(snapshot, at: at, store)
    let found = try snapshot.entity(named: entity)
    let fetch = try request.fetch(found, in: snapshot, zone: console.zone, now: console.now())
      .limit(limit).offset(offset)
    if explain {
      let plan = try plan(fetch, found, snapshot, console)
      try QueryCommand.write(document(ofPlan: plan, at: snapshot.number, of: store), console)
    } else if isGrouped {
      try writeGroups(fetch, found, snapshot, console)
    } else if count {
      try console.output.line("\(try snapshot.count(fetch))")
    } else if let properties {
      try writeValues(properties, fetch, found, snapshot, console)
    } else {
      try writeObjects(fetch, found, snapshot, console)
    }
    return .done
  }

  /// What is asked for.
  var request: QueryRequest {
    var request = QueryRequest()
    (request.prefix, request.nameOfGroupBy) = ("--", "--group-by")
    (request.condition, request.sort, request.groupBy) = (condition, sort, groupBy)
    request.aggregated = [
      (.sum, sum), (.average, average), (.minimum, minimum), (.maximum, maximum),
    ]
    return request
  }

  /// What is printed of a plan.
  func document(ofPlan plan: String, at number: Int64, of store: Store) -> PlanDocument {
    PlanDocument(
      plan, of: entity, in: file,
      at: ShownMoment(number: number, head: store.token.number, base: store.base.number),
      command: CommandWords("query", file).adding(entity).option("at", at)
        .option("where", condition).option("sort", sort).flag("explain", true))
  }

  /// Writes a plan, with the command that adds the index it recommends.
  static func write(_ document: PlanDocument, _ console: Console) throws {
    let remedy = document.planRemedy.map { ": \($0)" } ?? ""
    for line in ValueText.lines(of: document.plan.joined(separator: "\n") + remedy) {
      try console.output.line(line)
    }
  }

  /// How the objects are found, or their groups made.
  private func plan(
    _ fetch: DynamicFetch, _ entity: Entity, _ snapshot: Snapshot, _ console: Console
  ) throws -> String {
    if isGrouped {
      let (key, aggregates) = try grouping(fetch, entity, snapshot.schema, console)
      return try snapshot.explain(fetch, groupedBy: key, aggregates)
    }
    return try snapshot.explain(fetch)
  }

  private func writeObjects(
    _ fetch: DynamicFetch, _ entity: Entity, _ snapshot: Snapshot, _ console: Console
  ) throws {
    let ids = try snapshot.objectIDs(fetch)
    guard format == .jsonl else {
      return try TableWriter(snapshot, console).write(
        ids.map(\.row), of: entity, isCSV: format == .csv)
    }
    var state = CanonicalState(snapshot)
    for id in ids {
      try state.write(ObjectReference(id)) { try console.output.write($0) }
    }
  }
}
