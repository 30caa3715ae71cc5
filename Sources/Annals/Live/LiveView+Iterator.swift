import AnnalsEngine

extension LiveView {
  /// Keeps the rows of the last update, and waits for changes of them.
  public struct Iterator: AsyncIteratorProtocol {
    private var cursor: LiveCursor
    private let read: RowList<Row>.Reader
    private var feed = FeedWait()

    init(_ cursor: LiveCursor, _ read: @escaping RowList<Row>.Reader) {
      self.cursor = cursor
      self.read = read
    }

    /// The next update, once there is one; nil when the store is closed or the task cancelled.
    ///
    /// Throws if the rows cannot be read; the next call tries again.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AnnalsError) -> LiveUpdate<Row>? {
      let writer = cursor.core.store.writer
      while !Task.isCancelled {
        let newest = try writer.head.feedPosition()
        if let step = try cursor.advance(newest.token) {
          return LiveUpdate(
            rows: RowList(step.rows, read), diff: step.diff, isInitial: step.isInitial)
        }
        guard cursor.isLevel(with: newest.token) else { continue }
        guard try await feed.wait(beyond: newest, of: writer) else { return nil }
      }
      return nil
    }
  }
}
