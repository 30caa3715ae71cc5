import AnnalsStorage

/// One task at a time, in the order in which they came. No thread waits.
final class Turn: Sendable {
  private let state = Locked<State>(State())

  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// Runs `body` when the tasks that came before have ended theirs.
  func run<R>(_ body: () async throws -> R) async rethrows -> R {
    await take()
    defer { giveBack() }
    return try await body()
  }

  private func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isTaken {
          state.waiting.append(continuation)
          return false
        }
        state.isTaken = true
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private func giveBack() {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      if state.waiting.isEmpty {
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
