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
    let upper = min(max((before ?? .max) - 1, base), head)
    let isForward = after != nil && before == nil
    let limit = max(1, try limit(50))
    var condition = try LogFilter(parameters, store).condition
    condition = try condition.counting { store.now }
    let history = History(
      version: version, after: min(lower, upper), through: upper, condition: condition)
    var search = HistoryPage.Search(
      history: isForward ? history : history.reversed(), limit: limit,
      changes: Asking.changesOfEach)
    if let text = parameters["text"]?.lowercased() {
      search.isWanted = { $0.message?.lowercased().contains(text) == true }
    }
    let page = try HistoryPage(search, for: WorkTime(patience), cancellation)
    let entries = isForward ? page.entries.reversed() : page.entries
    let shown = try self.shown(entries, version, cut: try cut())
    let newest = isForward ? page.reached ?? head : upper
    let oldest = isForward ? lower + 1 : page.reached ?? lower + 1
    return TransactionsDocument(
      transactions: shown,
      older: isForward
        ? (lower > base ? lower + 1 : nil) : (page.hasMore && oldest > base + 1 ? oldest : nil),
      newer: isForward ? (page.hasMore ? newest : nil) : (upper < head ? upper : nil),
      isPartial: page.isPartial, head: head,
      command: logCommand.option("before", before.map { "\($0)" })
        .option("after", after.map { "\($0)" }).adding("-n", "\(limit)").text)
  }

  /// As many changes of a transaction are in a list of transactions.
  private static let changesOfEach = 5

  /// Entries, newest first, as documents.
  private func shown(
    _ entries: [HistoryPage.Entry], _ version: StoreVersion, cut: Int
  ) throws -> [TransactionsDocument.Entry] {
    let newest = version.snapshot.reader
    let showing = ChangeShowing(
      values: ValueShowing(cut: cut, newest.largeValues), newest: newest)
    let states = NamingStates(
      version, movingTo: entries.last?.transaction.number ?? version.token.number)
    return try entries.map { entry in
      try cancellation.check()
      return TransactionsDocument.Entry(
        header: ShownHeader(entry.transaction, changes: entry.total, cut: cut),
        changes: try entry.changes.map { change in
          try showing.shown(change) { () throws(AnnalsError) in
            try states.reader(at: entry.transaction.number)
          }
        }, matching: entry.matching)
    }
  }

  private var logCommand: CommandWords {
    var words = command("log")
    for name in ["author", "context", "entity", "property", "object", "type"] {
      words = words.options(name, parameters.all(name))
    }
    return words.option("since", parameters["since"]).option("until", parameters["until"])
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
    let newest = version.snapshot.reader
    let values = ValueShowing(cut: cut, newest.largeValues)
    let showing = ChangeShowing(values: values, newest: newest)
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
        changes.append(
          try showing.shown(own[place]) { () throws(AnnalsError) in
            try states.reader(at: number)
          })
      }
      total += own.count
    }
    guard let first else { throw RequestFault("transaction \(number) is not here", .notFound) }
    let record = first.page.batch.transactions[first.index]
    return TransactionDocument(
      header: ShownHeader(first, changes: total, cut: ValueShowing.longestCut),
      metadata: try record.metadata.filter { $0.key != "message" }.prefix(100).map {
        TransactionDocument.Entry(
          key: $0.key, value: try values.shown($0.value) { () throws(AnnalsError) in newest })
      }, schemaLines: SchemaText.lines(of: first), changes: changes, offset: offset, total: total,
      previous: number > base + 1 ? number - 1 : nil, next: number < head ? number + 1 : nil,
      command: command("show").adding("\(number)").text)
  }
}

extension SchemaText {
  /// What a transaction changed of the schema: each entity, and below it the differences.
  package static func lines(of transaction: Transaction) -> [String] {
    let changed = transaction.schemaChange
    guard !changed.isEmpty else { return [] }
    let schema = transaction.schema
    let before = transaction.page.glossary.schema(asOf: transaction.number - 1)
    return changed.flatMap { entity in
      ["schema of \(entity.name)"]
        + differences(of: entity, from: before.entity(numbered: entity.number), in: schema).map {
          "    \($0)"
        }
    }
  }
}
