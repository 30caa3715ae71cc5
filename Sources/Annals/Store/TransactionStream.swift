import AnnalsEngine
import AnnalsLog
import AnnalsModel

/// History that continues: the transactions after a position, and then each new one as it is
/// acknowledged.
///
/// Skips none and returns none twice: it reads the log, and holds one frame of it however far
/// behind the reader is. Transactions of other processes arrive by themselves, since the file is
/// watched while an iterator is in use. Ends when the store is closed, after the last transaction,
/// and when the task is cancelled.
public struct TransactionStream: AsyncSequence, Sendable {
  /// Transactions with their changes. Save the token of each to continue after it.
  public typealias Element = Transaction

  let store: Store
  let start: Token
  let condition: HistoryCondition

  /// An iterator before the first transaction.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the log, and waits at its end.
  public struct Iterator: AsyncIteratorProtocol {
    private let stream: TransactionStream
    /// All transactions up to here were returned or did not match.
    private var position: Token
    private var cursor: TransactionCursor?
    /// The value of `position` once the cursor is at its end.
    private var end: Token
    private var feed = FeedWait()

    init(_ stream: TransactionStream) {
      self.stream = stream
      position = stream.start
      end = stream.start
    }

    /// The next matching transaction, once there is one. Nil when the store is closed or the task
    /// cancelled.
    ///
    /// Throws `.pruned` if the next transactions were pruned meanwhile, `.lostBranch` or
    /// `.beyondHead` if they were lost in a power failure, and what reading throws; the next call
    /// tries again.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AnnalsError) -> Transaction? {
      while !Task.isCancelled {
        if let transaction = try advance() { return transaction }
        let writer = stream.store.writer
        let newest = try writer.head.feedPosition()
        // While waiting no version is held, so that commits can apply in place.
        if newest.token != position {
          try openCursor()
        } else if try await !feed.wait(beyond: newest, of: writer) {
          return nil
        }
      }
      return nil
    }

    /// Begins to read the transactions after the position.
    private mutating func openCursor() throws(AnnalsError) {
      let version = stream.store.writer.head.published
      end = version.token
      cursor = try History(
        version: version, after: version.number(after: position), through: version.head.number,
        condition: stream.condition.counting(stream.store.environment.clock)
      ).makeCursor()
    }

    /// The next transaction of the cursor, if there is one; otherwise `position` is at its end.
    private mutating func advance() throws(AnnalsError) -> Transaction? {
      guard cursor != nil else { return nil }
      do throws(AnnalsError) {
        if let transaction = try cursor?.next() {
          position = transaction.token
          return transaction
        }
      } catch {
        // What could not be read is read again, not skipped.
        cursor = nil
        throw error
      }
      position = end
      cursor = nil
      return nil
    }
  }
}

extension Store {
  /// The matching transactions after a position, oldest first, without an end: where
  /// `history(after:before:where:)` stops at the newest, this waits for the next.
  ///
  /// - Parameters:
  ///   - after: a token, a number or a date, exclusive; nil is the oldest position.
  ///   - condition: which transactions are wanted.
  /// - Returns: an asynchronous sequence; each iterator of it begins anew.
  /// - Throws: as `history(after:before:where:)` does; so do the elements, if what they need is
  ///   pruned before they are read.
  public func changes(
    after: (any HistoryPosition)? = nil, where condition: HistoryCondition = .always
  ) throws(AnnalsError) -> TransactionStream {
    let version = version
    try condition.requireOwn(version.store)
    var number = version.view.base
    let clock = environment.clock
    if let after { number = try version.number(after: after.historyPlace, clock) }
    // A date that is none is refused here; what counts is decided whenever something is read.
    _ = try condition.counting(clock)
    return TransactionStream(
      store: self, start: try version.token(of: number), condition: condition)
  }
}
