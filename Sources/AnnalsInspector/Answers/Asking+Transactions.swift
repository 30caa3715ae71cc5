import Annals
import AnnalsLog
import AnnalsModel

extension Asking {
  /// A page of transactions, newest first.
  package func transactions() throws -> TransactionsDocument {
    let store = try opened()
    let version = store.version
    let (base, head) = (version.view.base, version.token.number)
    let before = try parameters.number("before")
    let after = try parameters.number("after")
    let lower = min(max(after ?? base, base), head)
    let upper = min(max(before ?? .max, base + 1) - 1, head)
    let isForward = after != nil && before == nil
    let limit = max(1, try limit(50))
    var condition = try LogFilter(parameters, store).condition
    condition = try condition.counting { store.now }
    let history = History(
      version: version, after: min(lower, upper), through: upper, condition: condition)
    let search = HistoryPage.Search(
      history: isForward ? history : history.reversed(), limit: limit,
      changes: Asking.changesOfEach, mention: parameters["text"])
    let page = try HistoryPage(search, for: WorkTime(patience), cancellation)
    let entries = isForward ? page.entries.reversed() : page.entries
    let showing = TransactionShowing(changeShowing(of: store, cut: try cut()))
    let states = NamingStates(
      version, movingTo: entries.last?.number ?? version.token.number)
    let shown = try entries.map { digest in
      try cancellation.check()
      return try showing.shown(digest, states)
    }
    let last = isForward ? page.reached ?? head : upper
    let oldest = isForward ? lower + 1 : page.reached ?? lower + 1
    return TransactionsDocument(
      transactions: shown,
      older: isForward
        ? (lower > base ? lower + 1 : nil) : (page.hasMore && oldest > base + 1 ? oldest : nil),
      newer: isForward ? (page.hasMore ? last : nil) : (upper < head ? upper : nil),
      isPartial: page.isPartial, head: head,
      command: filterCommand.option("before", before.map { "\($0)" })
        .option("after", after.map { "\($0)" }).adding("-n", "\(limit)").text)
  }

  /// As many changes of a transaction are in a list of transactions.
  private static let changesOfEach = 5

  /// The command that lists what the filter selects.
  var filterCommand: CommandWords {
    var words = command("log")
    for name in ["author", "context", "entity", "property", "object", "type"] {
      words = words.options(name, parameters.all(name))
    }
    // A year alone would be a transaction there.
    func date(_ name: String, _ month: String) -> String? {
      parameters[name].map { $0.utf8.count == 4 && Int($0) != nil ? $0 + month : $0 }
    }
    words = words.option("message", parameters["text"])
    return words.option("since", date("since", "-01")).option("until", date("until", "-12"))
  }

  /// One transaction whole, its changes by pages.
  package func transaction() throws -> TransactionDocument {
    let store = try opened()
    let version = store.version
    let (base, head) = (version.view.base, version.token.number)
    let number = try store.number(try parameters.required("number"), parameter: "number")
    guard number > 0 else { throw RequestFault("there is no transaction 0", .notFound) }
    guard number > base else { throw version.pruned(number) }
    let (offset, limit) = (try offset(), try limit(200))
    let cut = try cut(2_000)
    let showing = TransactionShowing(changeShowing(of: store, cut: cut))
    let states = NamingStates(version, movingTo: number)
    let history = History(
      version: version, after: number - 1, through: number, condition: .always)
    var cursor = try PartCursor(history)
    var first: Transaction?
    var (total, changes) = (0, [ShownChange]())
    while let part = try cursor.next() {
      try cancellation.check()
      if part.record.part == 0 { first = part.transaction }
      let own = part.transaction.changes
      for place in own.indices where total + place >= offset && changes.count < limit {
        changes.append(try showing.changes.shown(own[place], states))
      }
      total += own.count
    }
    guard let first else { throw RequestFault("transaction \(number) is not here", .notFound) }
    return TransactionDocument(
      header: ShownHeader(first, changes: total, cut: ValueShowing.longestCut),
      metadata: try showing.metadata(of: first, most: 100),
      schemaLines: SchemaText.lines(of: first), changes: changes, offset: offset, total: total,
      previous: number > base + 1 ? number - 1 : nil, next: number < head ? number + 1 : nil,
      command: command("show").adding("\(number)").text)
  }
}
