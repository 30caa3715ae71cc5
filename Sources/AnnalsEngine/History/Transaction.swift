import AnnalsFormat
import AnnalsModel

/// One transaction of history: who changed what, and when.
///
/// Complete once read: its properties never touch the disk. The bytes of values over 4 KiB stay in
/// the file as `Value.large` until `Store.bytes(of:)` reads them. A value of a few words; copying
/// is cheap.
public struct Transaction: Sendable, Identifiable {
  @usableFromInline package let page: TransactionPage
  @usableFromInline package let index: Int
  /// The pages after the first, for a transaction of several frames.
  @usableFromInline package let continuation: [TransactionPage]

  package init(page: TransactionPage, index: Int, continuation: [TransactionPage] = []) {
    self.page = page
    self.index = index
    self.continuation = continuation
  }

  /// The transaction's number; numbers start at 1 and are consecutive.
  public var number: Int64 { page.batch.transactions[index].number }

  /// The same as `number`.
  public var id: Int64 { number }

  /// The position just after the transaction, to save and to read on from.
  public var token: Token {
    Token(
      store: page.glossary.store, number: number,
      opening: page.glossary.opening(page.batch.transactions[index].opening)?.id ?? 0)
  }

  /// The timestamp of the commit, from the writer's clock or the import.
  package var moment: Timestamp { page.batch.transactions[index].timestamp }

  /// Who made the change; nil if the writer did not say.
  public var author: String? { page.glossary.name(page.batch.transactions[index].author) }

  /// The context of the change; nil if the writer did not say.
  public var context: String? { page.glossary.name(page.batch.transactions[index].context) }

  /// The name of the process that wrote the transaction; nil if unknown.
  public var processName: String? {
    let name = page.glossary.opening(page.batch.transactions[index].opening)?.processName
    return name?.isEmpty == false ? name : nil
  }

  /// The process identifier of that process; nil if unknown.
  public var processID: Int64? {
    let id = page.glossary.opening(page.batch.transactions[index].opening)?.processID
    return id == 0 ? nil : id
  }

  /// The key-value pairs that the writer attached.
  public var metadata: [String: Value] {
    var result: [String: Value] = [:]
    for entry in page.batch.transactions[index].metadata { result[entry.key] = entry.value }
    return result
  }

  /// The whole new definitions of the entities that the transaction changed; empty for most
  /// transactions. O(schema changes) where there are some.
  public var schemaChange: [Entity] {
    let change = page.batch.transactions[index].schemaChange
    guard change.contains(where: \.isPartial) else { return change.map(\.definition) }
    let schema = page.glossary.schema(asOf: number)
    return change.compactMap { schema.entity(numbered: $0.number) }
  }

  /// The names of the entities whose definitions the transaction changed.
  package var changedEntityNames: [String] {
    page.batch.transactions[index].schemaChange.map(\.definition.name)
  }

  /// What the transaction erased, and why; nil for most transactions.
  public var erasure: Erasure? { ErasureCodec.erasure(of: page.batch.transactions[index]) }

  /// The group of transactions that are undone together with this one; of a transaction that undoes
  /// or redoes a group, that group. Nil for most.
  public var group: String? { undo.group }

  /// The names of the migrations that the transaction is: one, or, where it made the schema of a
  /// new store, all that the program declared. None for most transactions.
  public var migrations: [String] {
    MigrationCodec.names(of: page.batch.transactions[index])
  }

  /// The transactions of the same author that this one undoes: one, or the group from the first of
  /// them to the last; nil for most transactions. Some may have been pruned since.
  public var undoes: ClosedRange<Int64>? {
    if case .undoes(let numbers) = undo.act { numbers } else { nil }
  }

  /// The transaction whose undoing this one undoes; nil for most.
  public var redoes: Int64? {
    if case .redoes(let number) = undo.act { number } else { nil }
  }

  /// The transaction's place in the undo history of its author.
  package var undo: UndoRecord { UndoCodec.undo(of: page.batch.transactions[index]) }

  /// The lost transactions, if this is not a transaction but a gap that a salvage left; the gap's
  /// number is the last lost one. Its changes lead from the last state before the gap to what is
  /// known of the state after it. Gaps match every condition.
  public var lost: LostTransactions? { page.batch.transactions[index].lost }

  /// The schema just after the transaction.
  public var schema: Schema { page.glossary.schema(asOf: number) }

  /// The changes in order; empty if only headers were read.
  public var changes: Changes {
    Changes(transaction: self)
  }
}

extension Transaction {
  /// The changes of one transaction, in order.
  public struct Changes: Sendable, RandomAccessCollection {
    @usableFromInline let transaction: Transaction

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of changes. O(number of the transaction's frames).
    public var endIndex: Int {
      transaction.continuation.reduce(
        Int(transaction.page.batch.transactions[transaction.index].changeCount)
      ) { $0 + Int($1.batch.transactions[0].changeCount) }
    }

    /// The change at this position. O(1); for a transaction of several frames O(number of frames).
    /// Iterating costs O(1) per change.
    public subscript(position: Int) -> Change {
      var rest = position
      var page = transaction.page
      var index = transaction.index
      var next = 0
      while rest >= Int(page.batch.transactions[index].changeCount) {
        rest -= Int(page.batch.transactions[index].changeCount)
        page = transaction.continuation[next]
        index = 0
        next += 1
      }
      let first = Int(page.batch.transactions[index].firstChange)
      return Change(page: page, transaction: index, index: first + rest)
    }

    /// Calls the closure with each change, in order.
    ///
    /// The fastest way through all changes.
    @inlinable
    public func forEach(_ body: (Change) throws -> Void) rethrows {
      try forEach(of: transaction.index, in: transaction.page, body)
      for page in transaction.continuation { try forEach(of: 0, in: page, body) }
    }

    @inlinable @inline(__always)
    func forEach(
      of record: Int, in page: TransactionPage, _ body: (Change) throws -> Void
    ) rethrows {
      for position in page.batch.transactions[record].changeRange {
        try body(Change(page: page, transaction: record, index: position))
      }
    }

    /// An iterator over the changes.
    public func makeIterator() -> Iterator { Iterator(transaction: transaction) }

    /// Iterates over the changes, page by page.
    public struct Iterator: IteratorProtocol {
      private let continuation: [TransactionPage]
      @usableFromInline var page: TransactionPage
      @usableFromInline var record: Int
      @usableFromInline var position: Int
      @usableFromInline var end: Int
      private var nextPage = 0

      init(transaction: Transaction) {
        continuation = transaction.continuation
        page = transaction.page
        record = transaction.index
        let range = page.batch.transactions[record].changeRange
        position = range.lowerBound
        end = range.upperBound
      }

      /// The next change; nil after the last.
      @inlinable
      public mutating func next() -> Change? {
        guard position < end || turnPage() else { return nil }
        defer { position += 1 }
        return Change(page: page, transaction: record, index: position)
      }

      /// Advances to the next page with a change; returns false at the end.
      @usableFromInline
      mutating func turnPage() -> Bool {
        while position == end {
          guard nextPage < continuation.count else { return false }
          page = continuation[nextPage]
          nextPage += 1
          record = 0
          let range = page.batch.transactions[0].changeRange
          position = range.lowerBound
          end = range.upperBound
        }
        return true
      }
    }
  }
}
