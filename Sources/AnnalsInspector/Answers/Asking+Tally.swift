import Annals
import AnnalsLog
import AnnalsModel

extension Asking {
  /// How many transactions a filter selects, and of their changes those that match, by author, by
  /// entity and by kind. Stops after a while, and says how far it came from the newest on.
  package func tally() throws -> TallyDocument {
    let store = try opened()
    let version = store.version
    let (base, head) = (version.view.base, version.token.number)
    let upper = min(max(try parameters.number("before") ?? .max, base + 1) - 1, head)
    let lower = min(max(try parameters.number("after") ?? base, base), upper)
    let condition = try LogFilter(parameters, store).condition.counting { store.now }
    let history = History(version: version, after: lower, through: upper, condition: condition)
    let time = WorkTime(patience)
    var walk = try HistoryWalk(
      history.reversed(), changes: .max, mentioning: parameters["text"])
    var tally = Tally()
    var passed = 0
    var reached: Int64?
    while reached == nil, let digest = try walk.nextRead() {
      if digest.isSelected { tally.add(digest) }
      passed += 1
      if passed.isMultiple(of: 64) {
        try cancellation.check()
        if time.isOver { reached = digest.number }
      }
    }
    return tally.document(reached: reached, command: filterCommand.text)
  }
}

/// What is counted of the transactions that a filter selects.
private struct Tally {
  private var transactions = 0
  private var changes = 0
  private var authors: [String?: TallyDocument.Author] = [:]
  private var entities: [EntityNumber: TallyDocument.Entity] = [:]

  /// As many authors and entities are listed, those with the most changes.
  private static let most = 50

  mutating func add(_ digest: TransactionDigest) {
    transactions += 1
    changes += digest.matching
    let name = digest.transaction.author
    var author = authors[name] ?? TallyDocument.Author(author: name, transactions: 0, changes: 0)
    author.transactions += 1
    author.changes += digest.matching
    authors[name] = author
    for change in digest.changes {
      let number = change.entry.entity
      var entity =
        entities[number]
        ?? TallyDocument.Entity(entity: change.entity.name, inserts: 0, updates: 0, deletes: 0)
      switch change.kind {
      case .insert: entity.inserts += 1
      case .update: entity.updates += 1
      case .delete: entity.deletes += 1
      }
      entities[number] = entity
    }
  }

  func document(reached: Int64?, command: String) -> TallyDocument {
    let byChanges = authors.values.sorted {
      ($1.changes, $1.transactions, $0.author ?? "") < (
        $0.changes, $0.transactions, $1.author ?? ""
      )
    }
    let byKind = entities.values.sorted { ($1.sum, $0.entity) < ($0.sum, $1.entity) }
    return TallyDocument(
      transactions: transactions, changes: changes, authors: Array(byChanges.prefix(Tally.most)),
      authorCount: authors.count, entities: Array(byKind.prefix(Tally.most)),
      entityCount: entities.count, reached: reached, command: command)
  }
}

extension TallyDocument.Entity {
  fileprivate var sum: Int { inserts + updates + deletes }
}
