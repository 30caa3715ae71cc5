import AnnalsModel

/// The numbers that transactions had where they were exported, and those under which an import has
/// recorded them.
///
/// A run for each stretch in which both go up by one: most imports have one run. Look-ups take
/// O(log runs).
struct ImportedNumbers {
  private struct Run {
    var first: Int64
    var recordedAs: Int64
    var count: Int64
  }

  private var runs: [Run] = []
  /// How many transactions undo or redo what was not imported.
  private var lostCount = 0
  /// How many migrations were left out.
  private var migrationCount = 0

  /// Notes that the transaction `number` was recorded as `recorded`. A number that does not rise
  /// names nothing any more: the lines are of several exports.
  mutating func add(_ number: Int64, as recorded: Int64) {
    guard let last = runs.last else {
      return runs.append(Run(first: number, recordedAs: recorded, count: 1))
    }
    let end = last.first.addingReportingOverflow(last.count)
    if !end.overflow, number < end.partialValue {
      runs = [Run(first: number, recordedAs: recorded, count: 1)]
    } else if number == end.partialValue, recorded == last.recordedAs + last.count {
      runs[runs.count - 1].count += 1
    } else {
      runs.append(Run(first: number, recordedAs: recorded, count: 1))
    }
  }

  /// Notes that a transaction undoes or redoes what was not imported.
  mutating func addLost() { lostCount += 1 }

  /// Notes migrations that were not recorded.
  mutating func addLeftOut(migrations count: Int) { migrationCount += count }

  /// What to tell of these, a sentence each.
  var notes: [String] {
    var notes: [String] = []
    if lostCount > 0 {
      notes.append(
        lostCount == 1
          ? "1 transaction undid or redid what was not imported, and is an ordinary one here"
          : "\(lostCount) transactions undid or redid what was not imported, and are ordinary ones "
            + "here")
    }
    if migrationCount > 0 {
      notes.append(
        (migrationCount == 1 ? "1 migration is" : "\(migrationCount) migrations are")
          + " not recorded as made, since the store has objects of its own")
    }
    return notes
  }

  /// The act by the numbers of this store; nil if not all that it names was imported.
  func act(_ act: UndoRecord.Act) -> UndoRecord.Act? {
    let numbers = act.numbers
    guard let first = recorded(numbers.lowerBound), let last = recorded(numbers.upperBound),
      first <= last
    else { return nil }
    return switch act {
    case .undoes: .undoes(first...last)
    case .redoes: .redoes(first)
    }
  }

  /// The number under which a transaction was recorded; nil if it was not imported.
  private func recorded(_ number: Int64) -> Int64? {
    let low = runs.rank { $0.first <= number }
    guard low > 0 else { return nil }
    let run = runs[low - 1]
    return number - run.first < run.count ? run.recordedAs + (number - run.first) : nil
  }
}
