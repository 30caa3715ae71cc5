import AnnalsEngine
import AnnalsModel
import AnnalsStorage

extension Store {
  /// As `write`, for a task, which waits until the transaction is acknowledged.
  ///
  /// The closure runs on the store's own thread, and the task is suspended. If nobody else writes
  /// and the last syncs took less than 250 us, it runs on the task's thread instead, which then
  /// waits for one more such sync: it must not wait for other tasks.
  ///
  /// Tasks that write at the same time share a sync: the thread runs the closures that wait, each
  /// as a transaction of its own, and syncs once. One that throws or breaks a rule refuses its own
  /// commit alone; a failed sync fails all that share it.
  ///
  /// A task that is cancelled before the closure has begun records nothing and gets `.cancelled` at
  /// once, also while it waits for other writers or other processes; later cancellation has no
  /// effect.
  @discardableResult
  public func write<Result: Sendable>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    expecting: Token? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await commit(
      author: author, context: context, group: group, metadata: metadata, basedOn: basedOn,
      merging: merging, expecting: expecting, body
    ).value
  }

  /// As the other asynchronous form, for a closure that returns nothing.
  public func write(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    expecting: Token? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    _ = try await commit(
      author: author, context: context, group: group, metadata: metadata, basedOn: basedOn,
      merging: merging, expecting: expecting, body)
  }

  /// As `commit`, for a task; otherwise as the asynchronous `write`.
  @discardableResult
  public func commit<Result: Sendable>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    expecting: Token? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Commit<Result> {
    let origin = try TransactionOrigin(
      author: author, context: context, group: group, metadata: metadata)
    let preconditions = Preconditions(basedOn: basedOn, policy: merging, expecting: expecting)
    return try await writer.commitOfTask { writer in
      try Commit { value in
        try writer.append(origin, if: preconditions) { value = try body($0) }
      }
    }
  }
}
