import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import Synchronization

extension Store {
  /// As `write`, without blocking the task's thread: the closure runs on the store's own thread,
  /// and the task waits until the transaction is acknowledged.
  ///
  /// A task that is cancelled before the closure has begun records nothing and gets `.cancelled`;
  /// later cancellation has no effect.
  @discardableResult
  public func write<Result: Sendable>(
    author: String? = nil, context: String? = nil, metadata: [String: Value] = [:],
    basedOn: Token? = nil, merging: MergePolicy? = nil, expecting: Token? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await commit(
      author: author, context: context, metadata: metadata, basedOn: basedOn, merging: merging,
      expecting: expecting, body
    ).value
  }

  /// As the other asynchronous form, for a closure that returns nothing.
  public func write(
    author: String? = nil, context: String? = nil, metadata: [String: Value] = [:],
    basedOn: Token? = nil, merging: MergePolicy? = nil, expecting: Token? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    _ = try await commit(
      author: author, context: context, metadata: metadata, basedOn: basedOn, merging: merging,
      expecting: expecting, body)
  }

  /// As `commit`, without blocking the task's thread; otherwise as the asynchronous `write`.
  @discardableResult
  public func commit<Result: Sendable>(
    author: String? = nil, context: String? = nil, metadata: [String: Value] = [:],
    basedOn: Token? = nil, merging: MergePolicy? = nil, expecting: Token? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Commit<Result> {
    let thread = try AnnalsError.narrowing { try writingThread.running() }
    let origin = TransactionOrigin(author: author, context: context, metadata: metadata)
    let preconditions = WritePreconditions(
      basedOn: basedOn, policy: merging, expecting: expecting)
    let cancellation = CancellationFlag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isAccepted = thread.submit { [self] in
          continuation.resume(
            with: Swift.Result {
              guard !cancellation.isSet else {
                throw AnnalsError(
                  .cancelled, "the task was cancelled before the write began; nothing was recorded")
              }
              return try commitTransaction(origin, preconditions, body)
            })
        }
        if !isAccepted { continuation.resume(throwing: AnnalsError.closedStore) }
      }
    } onCancel: {
      cancellation.set()
    }
  }
}

/// Whether the task was cancelled; read by the thread that works for it.
private final class CancellationFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  var isSet: Bool { flag.load(ordering: .acquiring) }

  func set() { flag.store(true, ordering: .releasing) }
}
