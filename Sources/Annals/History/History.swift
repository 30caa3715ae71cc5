import AnnalsEngine
import AnnalsLog
import AnnalsModel
import Foundation

/// A part of a store's history: which transactions, in which direction.
///
/// A value that reads nothing until asked. What it reads is history up to the newest transaction at
/// the time it was made. Memory is bounded by one frame of the file, and by one transaction where
/// transactions are handed out whole. Not a `Sequence`, whose iteration could not throw.
public struct History: Sendable {
  package let version: StoreVersion
  package let glossary: Glossary
  /// The transactions are those after this number…
  package let after: Int64
  /// … up to and with this one.
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

  /// The position behind all of these transactions, wanted or not: for a consumer to advance to.
  /// O(1) for a history up to the newest transaction; otherwise reads one. Throws `.damaged`.
  public var end: Token {
    get throws(AnnalsError) { try version.token(of: through) }
  }

  /// A cursor before the first transaction.
  public func makeCursor() throws(AnnalsError) -> TransactionCursor {
    try TransactionCursor(self)
  }

  /// Runs `body` on each transaction with its changes. Whatever `body` throws ends the walk.
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

  /// Runs `body` on each change that the condition wants, holding one frame at a time.
  public func forEachChange(_ body: (Change) throws -> Void) throws {
    var cursor = try PartCursor(self)
    while let part = try cursor.next() {
      for index in part.selectedChanges {
        try body(Change(page: part.page, transaction: part.index, index: index))
      }
    }
  }

  /// Runs `body` on each transaction without its changes, holding one frame at a time.
  public func forEachHeader(_ body: (TransactionHeader) throws -> Void) throws {
    var cursor = try PartCursor(self)
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

  /// The objects that the wanted changes touched, each once, in the order first met.
  public func objectIDs() throws(AnnalsError) -> [ObjectID] {
    var seen: Set<ObjectID> = []
    var result: [ObjectID] = []
    try AnnalsError.narrowing {
      try forEachChange { change in
        if seen.insert(change.objectID).inserted { result.append(change.objectID) }
      }
    }
    return result
  }

  /// How many transactions there are; gaps do not count. O(1) without a condition.
  public func count() throws(AnnalsError) -> Int {
    if case .always = condition.node {
      let lost = version.view.gaps.reduce(Int64(0)) { sum, gap in
        sum + max(0, min(gap.last, through) - max(gap.first - 1, after))
      }
      return Int(through - after - lost)
    }
    var count = 0
    try AnnalsError.narrowing { try forEachHeader { if $0.lost == nil { count += 1 } } }
    return count
  }
}

/// A transaction without its changes.
public struct TransactionHeader: Sendable, Identifiable {
  /// The transaction, whose `changes` are those of one frame only.
  private var first: Transaction
  /// How many changes there are.
  public private(set) var changeCount: Int
  package private(set) var isSelected: Bool

  package init(part: Transaction, changeCount: Int, isSelected: Bool) {
    first = part
    self.changeCount = changeCount
    self.isSelected = isSelected
  }

  mutating func join(_ part: TransactionHeader) {
    changeCount += part.changeCount
    isSelected = isSelected || part.isSelected
  }

  /// The transaction's number.
  public var number: Int64 { first.number }
  /// The same as `number`.
  public var id: Int64 { first.number }
  /// The position just after the transaction.
  public var token: Token { first.token }
  /// The moment of the commit.
  public var timestamp: Date { first.timestamp }
  /// Who made the change.
  public var author: String? { first.author }
  /// In what context the change was made.
  public var context: String? { first.context }
  /// The name of the process that wrote the transaction.
  public var processName: String? { first.processName }
  /// The number that the system gave to that process.
  public var processID: Int64? { first.processID }
  /// The key-value pairs that the writer attached.
  public var metadata: [String: Value] { first.metadata }
  /// What is missing, if this is no transaction but a gap that a salvage left.
  public var lost: LostTransactions? { first.lost }
  /// The definitions of the entities whose definition the transaction changed.
  public var schemaChange: [Entity] { first.schemaChange }
}
