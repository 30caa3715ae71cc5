import AnnalsStorage

/// A call on another thread for which a task waits: either its work begins, or the task is
/// cancelled before.
package final class WaitingCall<Value: Sendable>: Sendable {
  private typealias Continuation = CheckedContinuation<Value, any Error>

  private enum Stage {
    case waiting(Continuation?)
    case begun(Continuation?)
    case cancelled
  }

  private let stage = Locked(Stage.waiting(nil))
  /// What the task gets if it is cancelled before the work begins.
  private let cancellation: AnnalsError

  /// A call whose task gets this error if it is cancelled before the work begins.
  package init(cancellation: AnnalsError) { self.cancellation = cancellation }

  /// Runs `body`, which calls `begin()` before its work, on a thread; the task waits for its end
  /// without blocking its own thread. Throws what `body` throws, and `.closed` if the thread has
  /// ended.
  package func run(
    on thread: WorkerThread, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await wait {
      let isAccepted = thread.submit { self.end(with: Result { try body() }) }
      if !isAccepted { self.end(with: .failure(AnnalsError.closedStore)) }
    }
  }

  /// Calls `start`, and waits for `end(with:)` without blocking the task's thread. If the task is
  /// cancelled already, throws without having called it.
  package func wait(_ start: () -> Void) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { if keep($0) { start() } }
    } onCancel: {
      cancel()
    }
  }

  /// Keeps the continuation of the task. If that is cancelled already, resumes it and returns
  /// false.
  private func keep(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let isWaiting = stage.withLock { stage in
      if case .cancelled = stage { return false }
      stage = .waiting(continuation)
      return true
    }
    if !isWaiting { continuation.resume(throwing: cancellation) }
    return isWaiting
  }

  /// Whether the task was cancelled in time: the work must not begin any more.
  package var isCancelled: Bool {
    stage.withLock { if case .cancelled = $0 { true } else { false } }
  }

  /// Notes that the work begins; from now on the task waits for its end. Throws `.cancelled` if
  /// the task no longer waits.
  package func begin() throws(AnnalsError) {
    let hasBegun = stage.withLock { stage in
      guard case .waiting(let continuation) = stage else { return false }
      stage = .begun(continuation)
      return true
    }
    if !hasBegun { throw cancellation }
  }

  /// Resumes the task with the result, unless it was cancelled.
  package func end(with result: Result<Value, any Error>) {
    let continuation = stage.withLock { stage -> Continuation? in
      switch stage {
      case .waiting(let continuation), .begun(let continuation):
        // It ends once: nothing is left to cancel.
        stage = .begun(nil)
        return continuation
      case .cancelled: return nil
      }
    }
    continuation?.resume(with: result)
  }

  /// Notes that the task is cancelled. If the work has not begun, the task goes on at once.
  private func cancel() {
    let continuation = stage.withLock { stage -> Continuation? in
      guard case .waiting(let continuation) = stage else { return nil }
      stage = .cancelled
      return continuation
    }
    continuation?.resume(throwing: cancellation)
  }
}
