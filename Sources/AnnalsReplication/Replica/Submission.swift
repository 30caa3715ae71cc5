import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// A write of a task: it waits for its batch, is in one, or has ended.
///
/// One at a time of those that have not ended *leads*: its task forms the batches.
final class Submission: Sendable {
  /// What a run of the closure came to.
  typealias Step = ChainedProposal

  /// What it came to.
  enum Ending: Sendable {
    case committed(CommitResult)
    /// Nothing changed; the newest position.
    case nothing(Token)
  }

  private struct State {
    /// The task that waits: for the end, or to lead (true).
    var continuation: CheckedContinuation<Bool, Never>?
    var result: Result<Ending, any Error>?
    var leads = false
    /// Whether it is in a batch.
    var isTaken = false
    var isCancelled = false
    var isCurrent = false
    var goesAlone: Bool
    var patience: Retries?

    /// Ends a cancelled one that is in no batch; returns what waits for that.
    mutating func endIfCancelled() -> CheckedContinuation<Bool, Never>? {
      guard isCancelled, !isTaken, result == nil else { return nil }
      result = .failure(AnnalsError.cancelledWrite)
      return continuation.take()
    }
  }

  /// Runs the closure: on the newest state, or on one of transactions that were proposed. For the
  /// holder of the writer's turn.
  let run: @Sendable (StoreWriter, PendingState?) throws -> Step
  private let state: Locked<State>

  /// A write that tries as long as `patience` says; nil for the options' deadline.
  init(
    _ patience: Retries?, goesAlone: Bool,
    _ run: @escaping @Sendable (StoreWriter, PendingState?) throws -> Step
  ) {
    self.run = run
    state = Locked(State(goesAlone: goesAlone, patience: patience))
  }

  // MARK: The end

  /// Ends it, if it has not ended; its task goes on.
  func end(_ result: Result<Ending, any Error>) {
    let continuation = state.withLock { state in
      if state.result == nil { state.result = result }
      return state.continuation.take()
    }
    continuation?.resume(returning: false)
  }

  var isEnded: Bool { state.withLock { $0.result != nil } }

  /// What it came to. Only for one that has ended.
  func result() throws -> Ending {
    guard let result = state.withLock({ $0.result }) else {
      preconditionFailure("a write that has not ended has no result")
    }
    return try result.get()
  }

  /// Waits until it has ended, or its task must lead; returns whether that is so.
  func waits() async -> Bool {
    await withCheckedContinuation { continuation in
      let known: Bool? = state.withLock { state in
        if state.result != nil { return false }
        if state.leads { return true }
        state.continuation = continuation
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  /// Has its task lead. Returns false if it has ended.
  func lead() -> Bool {
    let (isAlive, continuation) = state.withLock { state in
      if state.result != nil { return (false, nil as CheckedContinuation<Bool, Never>?) }
      state.leads = true
      return (true, state.continuation.take())
    }
    continuation?.resume(returning: true)
    return isAlive
  }

  // MARK: Cancellation

  /// Notes that its task is cancelled. Ends it unless it is in a batch.
  func cancel() {
    let continuation = state.withLock { state in
      state.isCancelled = true
      return state.endIfCancelled()
    }
    continuation?.resume(returning: false)
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Puts it into a batch; returns false if it has ended.
  func take(_ patience: @autoclosure () -> Retries) -> Bool {
    state.withLock { state in
      guard state.result == nil else { return false }
      state.isTaken = true
      if state.patience == nil { state.patience = patience() }
      return true
    }
  }

  /// Takes it out of a batch, to wait for another. Returns false if it has ended, or ends so.
  func putBack() -> Bool {
    let (isAlive, continuation) = state.withLock { state in
      state.isTaken = false
      let continuation = state.endIfCancelled()
      return (state.result == nil, continuation)
    }
    continuation?.resume(returning: false)
    return isAlive
  }

  // MARK: Attempts

  /// Whether the state that it runs on next is as new as the call.
  var isCurrent: Bool {
    get { state.withLock { $0.isCurrent } }
    set { state.withLock { $0.isCurrent = newValue } }
  }

  /// Whether it cannot be in a batch with others.
  var goesAlone: Bool {
    get { state.withLock { $0.goesAlone } }
    set { state.withLock { $0.goesAlone = newValue } }
  }

  /// The pauses between its attempts, since it was taken for the first time.
  var patience: Retries? {
    get { state.withLock { $0.patience } }
    set { state.withLock { $0.patience = newValue } }
  }

  /// Whether its deadline has passed.
  var isOver: Bool { state.withLock { $0.patience?.isOver ?? false } }
}
