import AnnalsFaults
import AnnalsStorage

/// What was tried, in numbers.
package struct Tally: Sendable {
  /// Points at which the power failed.
  package var points = 0
  /// States left by that which were judged.
  package var survivors = 0
  /// Those of them that were checked; the others are equal to these, with as much expected of them.
  package var distinct = 0
  /// Those of them that a second crash left, while the store recovered from a first.
  package var recoveries = 0
  /// Calls to the operating system that were made to fail.
  package var errors = 0
  /// Those of them after which the work went on.
  package var errorsRefused = 0
  /// Those of them whose outcome was unknown, so that the store had to be opened again.
  package var errorsUnknown = 0
  /// Processes killed with SIGKILL.
  package var kills = 0
  /// Transactions that writers reported as committed.
  package var acknowledged = 0
  /// Those of them that were found again, unchanged.
  package var found = 0
  /// What readers in other processes checked meanwhile.
  package var reads = 0

  /// Nothing yet.
  package init() {}

  /// Counts and runs a check of what it has not seen, and says in its error where it was.
  mutating func check(_ place: String, _ body: () throws -> Void) throws {
    survivors += 1
    distinct += 1
    do {
      try body()
    } catch {
      throw BrokenPromise("\(place): \(error)")
    }
  }

  /// Counts a state that was left, and checks it unless it is one of those that were checked.
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

  /// Both together.
  package static func + (one: Tally, other: Tally) -> Tally {
    var sum = one
    sum.points += other.points
    sum.survivors += other.survivors
    sum.distinct += other.distinct
    sum.recoveries += other.recoveries
    sum.errors += other.errors
    sum.errorsRefused += other.errorsRefused
    sum.errorsUnknown += other.errorsUnknown
    sum.kills += other.kills
    sum.acknowledged += other.acknowledged
    sum.found += other.found
    sum.reads += other.reads
    return sum
  }
}
