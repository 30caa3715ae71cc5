import AnnalsEngine

extension Store {
  /// Verifies the store. Checks every byte of its file against its checksums, its rules and the
  /// rest of the file. If that finds no error, replays the whole history and compares the result
  /// with what the store holds, and rebuilds and compares the registered projections. The same as
  /// `annals verify`, which knows no projections.
  ///
  /// Finds a flipped bit anywhere in the file, even where nothing reads: large values, old
  /// transactions, root slots, padding. (A store that cannot be opened because of damage is
  /// reported by opening it.)
  ///
  /// Waits a moment for other writers to end, and locks them out meanwhile if it can. Reads the
  /// file twice and its whole history, once more if there are projections. Memory: two states.
  /// Returns the findings; nothing, or notes only, if all is well. Throws if the store cannot be
  /// read.
  public func verify() throws(AnnalsError) -> [StoreFinding] {
    var findings = try writer.verifyFile()
    if findings.contains(where: { $0.severity == .error }) { return findings }
    let isClean = !findings.contains { $0.severity == .warning }
    do throws(AnnalsError) {
      findings += try verifyHistory()
      if !findings.contains(where: { $0.severity == .error }) {
        findings += try verifyProjections()
      }
    } catch {
      // The damage that a warning has reported, such as a chunk to be rebuilt, may keep it from
      // ending.
      guard error.code == .damaged || error.code == .missingData else { throw error }
      findings.append(
        isClean
          ? StoreFinding(severity: .error, message: "\(error)")
          : StoreFinding(severity: .note, message: "the history was not compared: \(error)"))
    }
    return findings
  }

  /// Compares the store with another file of it, a replica or a copy: every transaction that both
  /// have, with all that it says, and the states at the first and the last number that both have.
  ///
  /// A file that goes on where the other one ends, or begins later, is no fault; a value that one
  /// file has erased and the other one has is a warning. What is a file's own makes no difference:
  /// consumers, retention, what was compacted. The bytes of both files are checked as they are
  /// read; `verify()` checks them all. The same as `annals verify --against`.
  ///
  /// Returns the findings; nothing, or notes only, if the two are the same as far as they go. Reads
  /// the history of both. Throws if one cannot be read.
  public func verify(against other: Store) throws(AnnalsError) -> [StoreFinding] {
    try HistoryComparison(version, other.version, named: ("this file", "the other one")).findings
  }

  /// The logical half of `verify`. As `StoreVersion.verifyHistory()`.
  package func verifyHistory() throws(AnnalsError) -> [StoreFinding] {
    try version.verifyHistory()
  }
}
