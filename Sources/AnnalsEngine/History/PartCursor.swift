import AnnalsLog
import AnnalsModel

/// One transaction, or one part of a large one, as the log returns it.
package struct TransactionPart {
  package let page: TransactionPage
  /// The transaction's index in the page.
  package let index: Int
  package let condition: ResolvedCondition

  /// The transaction's record.
  package var record: TransactionRecord { page.batch.transactions[index] }

  /// The page indexes of the changes that match the condition.
  package var selectedChanges: [Int] {
    let range = page.batch.transactions[index].changeRange
    return range.filter { condition.selects(change: $0, of: index, in: page.batch) }
  }

  /// Whether the transaction matches the condition because of this part.
  package var isSelected: Bool { condition.matches(transaction: index, in: page.batch) }

  /// The part as a transaction; its changes are those of the part.
  package var transaction: Transaction { Transaction(page: page, index: index) }

  package var header: TransactionHeader {
    TransactionHeader(
      part: transaction, changeCount: Int(page.batch.transactions[index].changeCount),
      isSelected: isSelected)
  }
}

/// Reads history part by part, holding one frame.
package struct PartCursor {
  private var log: FrameHistoryReader
  private let glossary: Glossary
  private let condition: ResolvedCondition
  private let selectsAll: Bool
  private var page: TransactionPage
  /// The page index of the next transaction, and the end of the page.
  private var index = 0
  private var end = 0

  /// A cursor before the first part. Without changes no part has any, and none is read unless the
  /// condition is about changes; their count is known.
  package init(_ history: History, withChanges: Bool = true) throws(AnnalsError) {
    glossary = history.glossary
    let condition = ResolvedCondition(history.condition, in: glossary)
    self.condition = condition
    selectsAll = if case .constant(true) = condition.node { true } else { false }
    page = TransactionPage(batch: ChangeBatch(), glossary: glossary)
    let filter = HistoryFilter(condition)
    log = try AnnalsError.translating {
      try history.version.view.history(
        after: history.after, through: history.through,
        direction: history.isReversed ? .backward : .forward, skipping: filter,
        withChanges: withChanges || condition.concernsChanges)
    }
  }

  /// The next transaction or part of one; nil at the end.
  package mutating func next() throws(AnnalsError) -> TransactionPart? {
    if index == end, try !turnPage() { return nil }
    defer { index += 1 }
    return TransactionPart(page: page, index: index, condition: condition)
  }

  /// The next transaction, if it is whole and matches the condition. Nil at the end, and before one
  /// that only `next` returns.
  @inline(__always)
  fileprivate mutating func nextWhole() throws(AnnalsError) -> Transaction? {
    if index == end, try !turnPage() { return nil }
    let index = index
    guard page.batch.transactions[index].isWhole,
      selectsAll || condition.matches(transaction: index, in: page.batch)
    else { return nil }
    self.index = index + 1
    return Transaction(page: page, index: index)
  }

  /// Advances to the next page; returns false at the end.
  private mutating func turnPage() throws(AnnalsError) -> Bool {
    // Each page has its own batch, since what is returned keeps the page alive. Pages of small
    // transactions have similar sizes.
    let isOfMany = page.batch.transactions.count > 1
    var batch = isOfMany ? ChangeBatch(asLongAs: page.batch) : ChangeBatch()
    guard try AnnalsError.translating({ try log.next(into: &batch) }) else { return false }
    index = 0
    end = batch.transactions.count
    page = TransactionPage(batch: batch, glossary: glossary)
    return true
  }
}

extension TransactionRecord {
  /// Whether this is the whole transaction, not a part.
  fileprivate var isWhole: Bool { part == 0 && !isContinued }
}

/// Reads history transaction by transaction.
///
///     var cursor = try store.history(after: token).makeCursor()
///     while let transaction = try cursor.next() { … }
public struct TransactionCursor {
  private var parts: PartCursor
  private let isReversed: Bool

  package init(_ history: History) throws(AnnalsError) {
    parts = try PartCursor(history)
    isReversed = history.isReversed
  }

  /// The next transaction with its changes; nil at the end.
  public mutating func next() throws(AnnalsError) -> Transaction? {
    if let transaction = try parts.nextWhole() { return transaction }
    while let part = try parts.next() {
      if part.page.batch.transactions[part.index].isWhole {
        if part.isSelected { return part.transaction }
      } else if let whole = try gather(from: part) {
        return whole
      }
    }
    return nil
  }

  /// Gathers a transaction of several parts; nil if it does not match the condition.
  private mutating func gather(from first: TransactionPart) throws(AnnalsError) -> Transaction? {
    var gathered = [first]
    while let last = gathered.last, isReversed ? last.record.part > 0 : last.record.isContinued {
      guard let part = try parts.next() else { break }
      gathered.append(part)
    }
    guard gathered.contains(where: \.isSelected) else { return nil }
    if isReversed { gathered.reverse() }
    return Transaction(
      page: gathered[0].page, index: gathered[0].index,
      continuation: gathered.dropFirst().map(\.page))
  }
}

extension HistoryFilter {
  /// More objects than these are in most segments, and looking for each takes long.
  private static let maximumObjects = 64

  /// The coarse filter of a condition: those of its terms that must all be true.
  package init(_ condition: ResolvedCondition) {
    self = .none
    var allowed = ChangeKind.allCases
    var pending = [condition.node]
    while let node = pending.popLast() {
      switch node {
      case .and(let a, let b): pending += [a, b]
      case .author(let name): authors = [name]
      case .context(let name): contexts = [name]
      case .dated(let range):
        since = max(since ?? .min, range.lowerBound)
        until = min(until ?? .max, range.upperBound)
      case .entities(let numbers): entities = numbers
      case .object(let reference): objects = [reference]
      case .objects(let references) where references.count <= Self.maximumObjects:
        objects = references.sorted()
      case .objects(let references): entities = Set(references.map(\.entity)).sorted()
      case .properties(let wanted):
        if wanted.count == 1 { property = (wanted[0].entity, wanted[0].property) }
      case .kind(let kind): allowed.removeAll { $0 != kind }
      case .not(.kind(let kind)): allowed.removeAll { $0 == kind }
      case .constant, .not, .or: break
      }
    }
    if allowed.count < ChangeKind.allCases.count {
      kinds = allowed.reduce(0) { $0 | 1 << $1.rawValue }
    }
  }
}
