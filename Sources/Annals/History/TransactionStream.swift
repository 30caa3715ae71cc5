import AnnalsEngine
import AnnalsLog
import AnnalsModel

/// History that goes on: the transactions after a position, and then each new one as it is
/// acknowledged.
///
/// Skips none and hands out none twice: it reads the log, and holds one frame of it however far the
/// reader is behind. Other processes' transactions come by themselves: while an iterator is in use
/// the file is watched. Ends when the store is closed, after the last transaction, and when the
/// task is cancelled.
public struct TransactionStream: AsyncSequence, Sendable {
  /// Transactions with their changes; the token of each is the one to save.
  public typealias Element = Transaction

  let store: Store
  let start: Token
  let condition: HistoryCondition

  /// An iterator before the first transaction.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the log, and waits where it ends.
  public struct Iterator: AsyncIteratorProtocol {
    private let stream: TransactionStream
    /// All transactions up to here were handed out or not wanted.
    private var position: Token
    private var cursor: TransactionCursor?
    /// What `position` will be when the cursor is at its end.
    private var end: Token
    /// Held from the first wait on, so that other processes' commits arrive.
    private var listener: FeedListener?

    init(_ stream: TransactionStream) {
      self.stream = stream
      position = stream.start
      end = stream.start
    }

    /// The next transaction that is wanted, once there is one; nil when the store is closed or the
    /// task cancelled.
    ///
    /// Throws `.pruned` if what comes next was pruned meanwhile, `.lostBranch` or `.beyondHead` if
    /// it was lost in a power failure, and what reading throws; the next call tries again.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AnnalsError) -> Transaction? {
      while !Task.isCancelled {
        if let transaction = try advance() { return transaction }
        switch try goOn() {
        case .read: break
        case .wait(let position): await stream.store.writer.head.wait(beyond: position)
        case .end: return nil
        }
      }
      return nil
    }

    private enum Step {
      case read, end
      case wait(beyond: FeedPosition)
    }

    /// Looks for what is newer than the position. Who waits for it holds no version, so that
    /// commits move that on in place.
    private mutating func goOn() throws(AnnalsError) -> Step {
      let head = stream.store.writer.head
      let newest = try head.feedPosition()
      if newest.token == position {
        if newest.isLast { return .end }
        if listener == nil { listener = try stream.store.writer.listen() }
        return .wait(beyond: newest)
      }
      let version = head.published
      end = version.token
      cursor = try version.cursor(after: position, where: stream.condition)
      return .read
    }

    /// As `next(isolation:)`.
    public mutating func next() async throws(AnnalsError) -> Transaction? {
      try await next(isolation: nil)
    }

    /// The next transaction of the cursor, if there is one; without, `position` is at its end.
    private mutating func advance() throws(AnnalsError) -> Transaction? {
      guard cursor != nil else { return nil }
      do throws(AnnalsError) {
        if let transaction = try cursor?.next() {
          position = transaction.token
          return transaction
        }
      } catch {
        // What could not be read is read again, not left out.
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
  /// The transactions after a position that the condition wants, oldest first, without an end:
  /// where `history(after:before:where:)` stops at the newest, this waits for the next.
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
    var number = version.view.base
    if let after { number = try version.number(after: after.historyPlace) }
    return TransactionStream(
      store: self, start: try version.token(of: number), condition: condition)
  }
}

extension StoreVersion {
  /// A cursor over what came after a position.
  fileprivate func cursor(
    after position: Token, where condition: HistoryCondition
  ) throws(AnnalsError) -> TransactionCursor {
    try History(
      version: self, after: number(after: .token(position)), through: head.number,
      condition: condition
    ).makeCursor()
  }
}
