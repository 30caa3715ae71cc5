import AnnalsLog
import AnnalsModel
import AnnalsState

/// A state that moves along history, one transaction after the other, in one direction.
///
/// For readers of history that need keys and relationships: a change names its object by row alone.
/// Other values keep what they were where the cursor began, or are missing. Moving costs what the
/// transactions in between cost. Memory: the naming properties and one frame.
package struct StateCursor {
  /// The state just after the transaction `number`.
  package private(set) var state: State
  /// The transaction that the state is as of.
  package private(set) var number: Int64
  private let version: StoreVersion
  private let isBackward: Bool
  private var cursor: FrameHistoryReader
  private var batch = ChangeBatch()
  private let naming: NamingProperties
  private var index = 0

  /// Starts at the state as of `number`, for moving as far as `end`.
  package init(version: StoreVersion, at number: Int64, movingTo end: Int64) throws(AnnalsError) {
    self.version = version
    self.number = number
    isBackward = end < number
    naming = NamingProperties(version.view)
    state = try version.state(at: number, keeping: naming)
    let direction: HistoryDirection = isBackward ? .backward : .forward
    cursor = try AnnalsError.translating {
      try version.view.history(
        after: min(number, end), through: max(number, end), direction: direction,
        skipping: HistoryFilter.none)
    }
  }

  /// A reader of the state just after the transaction `number`.
  package var reader: StateReader {
    version.reader(of: state)
  }

  /// Moves to the state just after this transaction, which must lie ahead.
  package mutating func move(to target: Int64) throws(AnnalsError) {
    while isBackward ? number > target : number < target {
      if index == batch.transactions.count {
        guard try AnnalsError.translating({ try cursor.next(into: &batch) }) else { return }
        naming.reduce(&batch)
        index = 0
      }
      try step()
    }
  }

  /// Applies or undoes the next transaction of the batch, or the next part of one.
  private mutating func step() throws(AnnalsError) {
    let record = batch.transactions[index]
    index += 1
    if !isBackward, record.part == 0, !record.schemaChange.isEmpty {
      state.changeSchema(record.schemaChange)
    }
    do {
      try state.apply(record, of: batch, direction: isBackward ? .backward : .forward)
    } catch {
      throw AnnalsError.translated(version.view.locating(error))
    }
    if isBackward {
      guard record.part == 0 else { return }
      if !record.schemaChange.isEmpty {
        state.setSchema(version.view.schema(at: record.number - 1))
      }
      number = record.firstNumber - 1
    } else if !record.isContinued {
      number = record.number
    }
  }
}
