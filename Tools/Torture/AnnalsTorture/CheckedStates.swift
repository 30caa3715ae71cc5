import AnnalsFaults
import AnnalsStorage

/// The states that passed their check, with the expectations of the check.
///
/// Many crashes leave the same state. A check is deterministic, so running it once for each state
/// misses nothing.
final class CheckedStates: Sendable {
  private struct State: Hashable {
    let fingerprint: Int
    let expectation: SurvivorCheck.Expectation
  }

  private let sound = Locked<Set<State>>([])
  private let recovered = Locked<Set<State>>([])

  /// Runs the check, which changes the disk, unless it passed before on an equal disk. Returns
  /// whether it was run.
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

  /// Whether recovery from this state is interrupted for the first time.
  func isFirstRecovery(of check: SurvivorCheck, _ fingerprint: Int) -> Bool {
    let state = State(fingerprint: fingerprint, expectation: check.expectation)
    return recovered.withLock { $0.insert(state).inserted }
  }
}
