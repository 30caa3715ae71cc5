import AnnalsLog
import AnnalsModel
import AnnalsState

/// The state of a store as of one transaction after the other, in one direction.
///
/// What a reader of history asks for keys and relationships: an update names its object by row
/// alone. Other values are those of where it began, or none. Moving on costs what the transactions
/// in between cost; nothing is held but these properties and one frame.
package struct MovingState {
  /// The state just after the transaction `number`.
  package private(set) var state: State
  /// The transaction that the state is as of.
  package private(set) var number: Int64
  private let version: StoreVersion
  private let isBackward: Bool
  private var cursor: AnnalsLog.HistoryCursor
  private var batch = ChangeBatch()
  private let naming: NamingProperties
  private var index = 0

  /// The state as of `number`, that can move as far as `end`.
  package init(version: StoreVersion, at number: Int64, movingTo end: Int64) throws(AnnalsError) {
    self.version = version
    self.number = number
    isBackward = end < number
    naming = NamingProperties(version.view)
    state = try version.state(at: number, keeping: naming)
    do throws(LogError) {
      cursor = try version.view.history(
        after: min(number, end), through: max(number, end),
        direction: isBackward ? .backward : .forward, skipping: HistoryFilter.none)
    } catch {
      throw AnnalsError(error)
    }
  }

  /// The state just after the transaction `number`.
  package var reader: StateReader {
    version.reader(of: state)
  }

  /// Moves to the state just after the transaction of this number, which lies on the way.
  package mutating func move(to target: Int64) throws(AnnalsError) {
    while isBackward ? number > target : number < target {
      if index == batch.transactions.count {
        do throws(LogError) {
          guard try cursor.next(into: &batch) else { return }
        } catch {
          throw AnnalsError(error)
        }
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
      try state.take(record, of: batch, direction: isBackward ? .backward : .forward)
    } catch {
      throw AnnalsError.wrapping(version.view.locating(error))
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
