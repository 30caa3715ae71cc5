import AnnalsLog
import AnnalsModel

/// A range of a store's history, with a condition and a direction.
///
/// A value that reads nothing until asked. It ends at the newest transaction of the time it was
/// made. Memory is bounded by one frame of the file, and by one transaction where whole
/// transactions are returned.
///
/// Not a `Sequence`, since iteration of a `Sequence` cannot throw and would hide an error. Loop
/// over it with `forEach`, with `for transaction in try history.collect(limit: 100)`, or with a
/// cursor, which can stop early:
///
///     var cursor = try history.makeCursor()
///     while let transaction = try cursor.next() { print(transaction) }
public struct History: Sendable {
  package let version: StoreVersion
  package let glossary: Glossary
  /// The transactions are those after this number…
  package let after: Int64
  /// … up to and including this one.
  package let through: Int64
  package let condition: HistoryCondition
  package private(set) var isReversed = false

  package init(
    version: StoreVersion, after: Int64, through: Int64, condition: HistoryCondition
  ) {
    self.version = version
    self.after = after
    self.through = max(after, through)
    self.condition = condition
    glossary = version.glossary()
  }

  /// The same transactions, newest first. Changes within a transaction keep their order.
  public func reversed() -> History {
    var result = self
    result.isReversed.toggle()
    return result
  }

  /// The position after all of these transactions, including those that the condition leaves out:
  /// for a consumer to advance to. O(1) for a history up to the newest transaction; otherwise reads
  /// one transaction. Throws `.damaged`.
  public var end: Token {
    get throws(AnnalsError) { try version.token(of: through) }
  }

  /// A cursor before the first transaction.
  public func makeCursor() throws(AnnalsError) -> TransactionCursor {
    try TransactionCursor(self)
  }

  /// Runs `body` on each transaction with its changes. An error of `body` ends the walk.
  public func forEach(_ body: (Transaction) throws -> Void) throws {
    var cursor = try makeCursor()
    while let transaction = try cursor.next() { try body(transaction) }
  }

  /// The first `limit` transactions with their changes; all of them without a limit.
  public func collect(limit: Int = .max) throws(AnnalsError) -> [Transaction] {
    var result: [Transaction] = []
    var cursor = try makeCursor()
    while result.count < limit, let transaction = try cursor.next() { result.append(transaction) }
    return result
  }

  /// Runs `body` on each change that matches the condition, holding one frame at a time.
  public func forEachChange(_ body: (Change) throws -> Void) throws {
    var cursor = try PartCursor(self)
    while let part = try cursor.next() {
      for index in part.selectedChanges {
        try body(Change(page: part.page, transaction: part.index, index: index))
      }
    }
  }

  /// Runs `body` on each transaction without its changes, holding one frame at a time. The changes
  /// are not looked at, unless the condition is about them.
  public func forEachHeader(_ body: (TransactionHeader) throws -> Void) throws {
    var cursor = try PartCursor(self, withChanges: false)
    var gathered: TransactionHeader?
    while let part = try cursor.next() {
      if gathered?.number == part.header.number {
        gathered?.join(part.header)
      } else {
        if let gathered, gathered.isSelected { try body(gathered) }
        gathered = part.header
      }
    }
    if let gathered, gathered.isSelected { try body(gathered) }
  }

  /// The objects that the matching changes touched, each once, in the order first met.
  public func objectIDs() throws(AnnalsError) -> [ObjectID] {
    var seen: Set<ObjectID> = []
    var result: [ObjectID] = []
    try AnnalsError.translating {
      try forEachChange { change in
        if seen.insert(change.objectID).inserted { result.append(change.objectID) }
      }
    }
    return result
  }

  /// The number of transactions, without gaps. O(1) without a condition.
  public func count() throws(AnnalsError) -> Int {
    if case .always = condition.node {
      let lost = version.view.gaps.reduce(Int64(0)) { sum, gap in
        sum + max(0, min(gap.last, through) - max(gap.first - 1, after))
      }
      return Int(through - after - lost)
    }
    var count = 0
    try AnnalsError.translating { try forEachHeader { if $0.lost == nil { count += 1 } } }
    return count
  }
}

/// A transaction without its changes.
public struct TransactionHeader: Sendable, Identifiable {
  /// The transaction; its `changes` are those of one frame only.
  private var first: Transaction
  /// The number of changes.
  public private(set) var changeCount: Int
  package private(set) var isSelected: Bool

  package init(part: Transaction, changeCount: Int, isSelected: Bool) {
    first = part
    self.changeCount = changeCount
    self.isSelected = isSelected
  }

  mutating func join(_ part: TransactionHeader) {
    // The first part has the metadata; it comes last where history is read backward.
    if part.first.page.batch.transactions[part.first.index].part == 0 { first = part.first }
    changeCount += part.changeCount
    isSelected = isSelected || part.isSelected
  }

  /// The transaction's number.
  public var number: Int64 { first.number }
  /// The same as `number`.
  public var id: Int64 { first.number }
  /// The position just after the transaction.
  public var token: Token { first.token }
  /// The timestamp of the commit.
  package var moment: Timestamp { first.moment }
  /// Who made the change.
  public var author: String? { first.author }
  /// The context of the change.
  public var context: String? { first.context }
  /// The name of the process that wrote the transaction.
  public var processName: String? { first.processName }
  /// The process identifier of that process.
  public var processID: Int64? { first.processID }
  /// The key-value pairs of the transaction.
  public var metadata: [String: Value] { first.metadata }
  /// The group of transactions that are undone together with this one; see `Transaction.group`.
  public var group: String? { first.group }
  /// The transactions that this one undoes; see `Transaction.undoes`.
  public var undoes: ClosedRange<Int64>? { first.undoes }
  /// The transaction whose undoing this one undoes; see `Transaction.redoes`.
  public var redoes: Int64? { first.redoes }
  /// The names of the migrations that the transaction is; see `Transaction.migrations`.
  public var migrations: [String] { first.migrations }
  /// The lost transactions, if this is not a transaction but a gap that a salvage left.
  public var lost: LostTransactions? { first.lost }
  /// The definitions of the entities that the transaction defined or changed.
  public var schemaChange: [Entity] { first.schemaChange }
}
