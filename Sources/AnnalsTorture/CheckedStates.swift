import AnnalsFaults
import AnnalsStorage

/// The states that were found in order, each with what was expected of it.
///
/// Many a crash leaves what another has left: the verdict on that is known. A check is the same
/// each time, so that nothing is overlooked by making it once.
final class CheckedStates: Sendable {
  private struct State: Hashable {
    let fingerprint: Int
    let expectation: SurvivorCheck.Expectation
  }

  private let sound = Locked<Set<State>>([])
  private let recovered = Locked<Set<State>>([])

  /// Makes the check, unless it was made before on such a disk and went well; returns whether it
  /// was made. It changes the disk.
  ///
  /// - Throws: what the check throws.
  func run(
    _ check: SurvivorCheck, on files: FaultyFileSystem, _ fingerprint: Int
  ) throws -> Bool {
    let state = State(fingerprint: fingerprint, expectation: check.expectation)
    if sound.withLock({ $0.contains(state) }) { return false }
    try check.run(on: files)
    sound.withLock { _ = $0.insert(state) }
    return true
  }

  /// Whether this is the first time that the power fails while a store recovers from this state.
  func isFirstRecovery(of check: SurvivorCheck, _ fingerprint: Int) -> Bool {
    let state = State(fingerprint: fingerprint, expectation: check.expectation)
    return recovered.withLock { $0.insert(state).inserted }
  }
}
