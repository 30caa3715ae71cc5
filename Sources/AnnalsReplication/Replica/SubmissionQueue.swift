import AnnalsStorage

/// The writes that wait for a batch, in the order in which they came, and who leads them.
final class SubmissionQueue: Sendable {
  private struct State {
    var waiting: [Submission] = []
    var isLed = false
    /// How many were in the last batch: mostly their tasks write again at once.
    var expected = 0
  }

  private let state = Locked(State())

  /// Adds a write at the end. Returns whether its task must lead.
  func add(_ submission: Submission) -> Bool {
    state.withLock { state in
      state.waiting.append(submission)
      defer { state.isLed = true }
      return !state.isLed
    }
  }

  /// Whether as many wait as were in the last batch.
  var isGathered: Bool { state.withLock { $0.waiting.count >= $0.expected } }

  /// How many wait.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Takes the first ones, as many as may be in one batch; for the one who leads, as what follows.
  func take(atMost limit: Int, _ patience: () -> Retries) -> [Submission] {
    // Others add at the end meanwhile, and no more.
    let waiting = state.withLock { $0.waiting }
    var batch: [Submission] = []
    var count = 0
    for submission in waiting {
      if batch.count == limit || (submission.goesAlone && !batch.isEmpty) { break }
      count += 1
      guard submission.take(patience()) else { continue }
      batch.append(submission)
      if submission.goesAlone { break }
    }
    let (taken, expected) = (count, batch.count)
    state.withLock { state in
      state.waiting.removeFirst(taken)
      state.expected = expected
    }
    return batch
  }

  /// Puts back, in front of the others, those that have not ended.
  func putBack(_ submissions: [Submission]) {
    let rest = submissions.filter { $0.putBack() }
    if rest.isEmpty { return }
    state.withLock { $0.waiting.insert(contentsOf: rest, at: 0) }
  }

  /// Has the next one lead, if there is any.
  func handOver() {
    while true {
      let next: Submission? = state.withLock { state in
        if state.waiting.isEmpty { state.isLed = false }
        return state.waiting.first
      }
      guard let next, !next.lead() else { return }
      // It has ended.
      state.withLock { state in
        if state.waiting.first === next { state.waiting.removeFirst() }
      }
    }
  }
}
