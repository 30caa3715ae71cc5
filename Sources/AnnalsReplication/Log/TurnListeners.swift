import AnnalsStorage

/// Who hears what is asked of a log, for its conformers.
package final class TurnListeners: Sendable {
  private let state = Locked(State())

  private struct State {
    var continuations: [Int: AsyncStream<TurnRequest>.Continuation] = [:]
    var next = 0
  }

  /// Nobody.
  package init() {}

  /// Somebody who hears all requests from now on, until the task that reads them is cancelled.
  package func add() -> AsyncStream<TurnRequest> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: TurnRequest.self, bufferingPolicy: .bufferingNewest(16))
    let number = state.withLock { state in
      defer { state.next += 1 }
      state.continuations[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.continuations.removeValue(forKey: number) }
    }
    return stream
  }

  /// Tells everybody.
  package func tell(_ request: TurnRequest) {
    for each in state.withLock({ $0.continuations }).values { each.yield(request) }
  }

  /// Ends all streams.
  package func finish() {
    let all = state.withLock { state in
      defer { state.continuations = [:] }
      return state.continuations
    }
    for each in all.values { each.finish() }
  }
}
