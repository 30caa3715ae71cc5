import AnnalsFaults
import AnnalsStorage

/// Counts of what a torture run tried.
package struct Tally: Sendable {
  /// Points at which the power failed.
  package var points = 0
  /// States that power cuts and failing calls left.
  package var survivors = 0
  /// Those of them that were checked. The others are equal to one of these, with the same
  /// expectations.
  package var distinct = 0
  /// Those of them that a second crash left while the store recovered from a first one.
  package var recoveries = 0
  /// Calls of the operating system that were made to fail.
  package var errors = 0
  /// Those of them after which the store continued to work.
  package var errorsRefused = 0
  /// Those of them whose outcome was unknown, so that the store had to be reopened.
  package var errorsUnknown = 0
  /// Processes killed with SIGKILL.
  package var kills = 0
  /// Transactions that writers reported as committed.
  package var acknowledged = 0
  /// Those of them that were found again, unchanged.
  package var found = 0
  /// States that readers in other processes checked meanwhile.
  package var reads = 0

  /// All counts 0.
  package init() {}

  /// Counts a state and runs a check of it. An error says where it was.
  mutating func check(_ place: String, _ body: () throws -> Void) throws {
    survivors += 1
    distinct += 1
    do {
      try body()
    } catch {
      throw BrokenPromise("\(place): \(error)")
    }
  }

  /// Counts a state, and checks it unless an equal one was checked.
  mutating func check(
    _ place: String, _ check: SurvivorCheck, on files: FaultyFileSystem, _ fingerprint: Int,
    _ checked: CheckedStates
  ) throws {
    survivors += 1
    do {
      if try checked.run(check, on: files, fingerprint) { distinct += 1 }
    } catch {
      throw BrokenPromise("\(place): \(error)")
    }
  }
}
