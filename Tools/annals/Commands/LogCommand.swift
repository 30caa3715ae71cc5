import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser

struct LogCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Prints the transactions, newest first.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--after base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "A..B: the transactions after A, up to and including B.") var range: String?
  @Option(parsing: .unconditional, help: "Only those after this TOKEN.") var after: String?
  @Option(parsing: .unconditional, help: "Only those before this TOKEN.") var before: String?
  @Option(parsing: .unconditional, help: "Only those dated at or after.") var since: String?
  @Option(parsing: .unconditional, help: "Only those dated at or before.") var until: String?
  @Option(parsing: .unconditionalSingleValue, help: "Only those by this author; may be repeated.")
  var author: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "Only those in this context; may be repeated.")
  var context: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: "Only changes to objects of this entity; may be repeated.")
  var entity: [String] = []
  @Option(parsing: .unconditionalSingleValue, help: "Only changes to this OBJECT; may be repeated.")
  var object: [String] = []
  @Option(
    parsing: .unconditionalSingleValue,
    help: "Only changes to properties of this name; may be repeated.")
  var property: [String] = []
  @Option(
    parsing: .unconditionalSingleValue, help: "Only changes of this type: insert, update, delete.")
  var type: [ChangeKind] = []
  @Option(parsing: .unconditional, help: "Only those whose message contains this, in any case.")
  var message: String?
  @Option(name: [.customShort("n"), .long], parsing: .unconditional, help: "At most this many.")
  var limit: Int?
  @Flag(help: "Oldest first.") var reverse = false
  @Flag(help: "Each transaction on one line.") var oneline = false
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func validate() throws {
    if let limit, limit < 0 {
      throw ValidationError("-n, which is --limit, takes a number from 0")
    }
    for (option, names) in [("--entity", entity), ("--property", property), ("--object", object)]
    where names.contains("") {
      throw ValidationError("\(option) is empty")
    }
    if oneline, format == .jsonl { throw ValidationError("--oneline is text: leave out --format") }
    if let range, RangeArgument(range) == nil {
      throw ValidationError(RangeArgument.fault(in: range, of: file))
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    var lower = store.base.number
    var upper = store.token.number
    if let range = range.flatMap(RangeArgument.init) {
      lower = try console.number(range.from, in: store)
      upper = try console.number(range.to, in: store)
      guard lower <= upper else {
        throw CommandFailure("\(range.from) is later than \(range.to): exchange the two")
      }
    }
    if let after { lower = max(lower, try console.number(after, in: store)) }
    if let before { upper = min(upper, try console.number(before: before, in: store)) }
    if let after, let before, range == nil, lower > upper + 1 {
      throw CommandFailure("--after \(after) is later than --before \(before): exchange the two")
    }
    let condition = try condition(console, store, &lower, &upper).counting(console.now)
    guard lower < upper else { return .done }
    var walk = try HistoryWalk(
      store, after: lower, through: upper, condition: condition, isReversed: !reverse,
      changes: oneline ? 1 : LogCommand.changesIfWhole, mentioning: message)
    switch format {
    case .text:
      let text = TransactionText(console)
      try forEachEntry(of: &walk, store) { try write($0, isFirst: $1, text) }
    case .jsonl: try LogCommand.writeLines(&walk, limit: limit ?? .max, console)
    }
    return .done
  }

  /// If there are more changes than the first, as many as the second are shown.
  private static let changesIfWhole = 5
  private static let changesIfCut = 3

  /// Calls `body` with each transaction, as it is shown, and whether it is the first.
  func forEachEntry(
    of walk: inout HistoryWalk, _ store: Store,
    _ body: (TransactionsDocument.Entry, Bool) throws -> Void
  ) throws {
    let showing = TransactionShowing(
      ChangeShowing(
        values: ValueShowing.ofChanges(in: store), detail: oneline ? .none : .line))
    var count = 0
    while count < limit ?? .max, var digest = try walk.nextDigest() {
      if oneline {
        // A message stands for the changes, and naming an object may take its state.
        let message = digest.transaction.message.map(ValueText.lines) ?? []
        if message.contains(where: { !$0.isEmpty }) { digest.changes = [] }
      } else if digest.total > LogCommand.changesIfWhole {
        digest.changes = Array(digest.changes.prefix(LogCommand.changesIfCut))
      }
      try body(try showing.shown(digest, walk.states), count == 0)
      count += 1
    }
  }

  /// Writes a transaction.
  func write(
    _ entry: TransactionsDocument.Entry, isFirst: Bool, _ text: TransactionText
  ) throws {
    if oneline { return try text.writeLine(entry) }
    if !isFirst { try text.output.line() }
    let hint = "annals show \(file) \(entry.header.number)"
    try text.writeHead(entry.header)
    try text.writeSchema(entry.schemaLines ?? [], more: entry.moreSchemaLines, hint: hint)
    for change in entry.changes { try text.write(change) }
    let more = entry.header.changes - entry.changes.count
    if more > 0 { try text.output.line("    … \(Numerals.grouped(more)) more: \(hint)") }
  }

  /// Writes transactions as JSON Lines, with the values before.
  static func writeLines(_ walk: inout HistoryWalk, limit: Int, _ console: Console) throws {
    var json = JSONWriter()
    var count = 0
    while count < limit, let (transaction, changes) = try walk.nextTransaction() {
      json.beginTransaction(transaction)
      json.origin(of: transaction)
      json.beginArray("changes")
      for change in changes {
        try json.change(change, explicitRow: false, includesBefore: true) {
          () throws(AnnalsError) in
          try walk.states.reader(at: transaction.number)
        } flush: {
          try console.output.drain(&$0)
        }
        if json.bytes.count >= 1 << 16 { try console.output.drain(&json) }
      }
      json.endArray()
      json.endObjectLine()
      try console.output.drain(&json)
      count += 1
    }
  }
}

extension ChangeKind: ExpressibleByArgument {
  /// The accepted values.
  public static var allValueStrings: [String] { allCases.map { "\($0)" } }

  /// Parses `insert`, `update` or `delete`.
  public init?(argument: String) {
    guard let kind = ChangeKind.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self = kind
  }
}
