import AnnalsEngine
import AnnalsStorage

/// A write for which a task waits: either its closure begins, or the task is cancelled before.
final class WaitingWrite<Value: Sendable>: Sendable {
  private typealias Continuation = CheckedContinuation<Value, any Error>

  private enum Stage {
    case waiting(Continuation?)
    case begun(Continuation?)
    case cancelled
  }

  private let stage = Locked(Stage.waiting(nil))

  /// Keeps the continuation of the task. If that is cancelled already, resumes it and returns
  /// false.
  func wait(with continuation: CheckedContinuation<Value, any Error>) -> Bool {
    let isWaiting = stage.withLock { stage in
      if case .cancelled = stage { return false }
      stage = .waiting(continuation)
      return true
    }
    if !isWaiting { continuation.resume(throwing: AnnalsError.cancelledWrite) }
    return isWaiting
  }

  /// Whether the task was cancelled in time: the closure must not begin any more.
  var isCancelled: Bool {
    stage.withLock { if case .cancelled = $0 { true } else { false } }
  }

  /// Notes that the closure begins; from now on the task waits for its end. Throws `.cancelled` if
  /// the task no longer waits.
  func begin() throws(AnnalsError) {
    let hasBegun = stage.withLock { stage in
      guard case .waiting(let continuation) = stage else { return false }
      stage = .begun(continuation)
      return true
    }
    if !hasBegun { throw .cancelledWrite }
  }

  /// Resumes the task with the result, unless it was cancelled.
  func end(with result: Result<Value, any Error>) {
    let continuation = stage.withLock { stage -> Continuation? in
      switch stage {
      case .waiting(let continuation), .begun(let continuation): continuation
      case .cancelled: nil
      }
    }
    continuation?.resume(with: result)
  }

  /// Notes that the task is cancelled. If the closure has not begun, the task goes on at once.
  func cancel() {
    let continuation = stage.withLock { stage -> Continuation? in
      guard case .waiting(let continuation) = stage else { return nil }
      stage = .cancelled
      return continuation
    }
    continuation?.resume(throwing: AnnalsError.cancelledWrite)
  }
}
