import AnnalsEngine

/// Waits for new transactions of a store, by whichever process.
struct FeedWait {
  /// Kept from the first wait on, so that other processes' commits arrive.
  private var listener: FeedListener?

  /// Waits until something may follow a position, up to which the caller has read everything.
  /// Returns false if nothing will. Returns also when the task is cancelled.
  mutating func wait(
    beyond newest: FeedPosition, of writer: StoreWriter,
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws(AnnalsError) -> Bool {
    if newest.isLast { return false }
    guard listener != nil else {
      // The caller looks once more for what came before the listener existed.
      listener = try writer.listen()
      return true
    }
    await writer.head.wait(beyond: newest)
    return true
  }
}
