import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Builds a state by replay: restores a checkpoint, then applies the batches that follow it.
package struct StateReplay {
  package private(set) var state: State
  /// Without values, the state only knows which objects exist.
  let holdsValues: Bool

  /// Starts with the empty state.
  package init(holdingValues holdsValues: Bool = true) {
    self.init(state: State(schema: Schema()), holdingValues: holdsValues)
  }

  /// Starts with a given state.
  package init(state: State, holdingValues holdsValues: Bool = true) {
    self.state = state
    self.holdsValues = holdsValues
  }

  /// Restarts from a checkpoint, or from the empty state.
  package mutating func restore(_ start: LogStart) throws(StateFault) {
    try restore(start.directory, schema: start.schema, file: start.file)
  }

  /// Restarts from a checkpoint's directory; from the empty state if it is nil.
  package mutating func restore(
    _ directory: CheckpointDirectory?, schema: Schema, file: LogGeneration
  ) throws(StateFault) {
    guard let directory else {
      state = State(schema: schema)
      return
    }
    state = try State(directory: directory, source: LogChunkSource(file))
  }

  /// The replayed state, with its indexes up to date.
  ///
  /// Ignores violations of uniqueness, since a log holds none; `Store.verify` reports them.
  package consuming func makeState() throws(StateFault) -> State {
    _ = try state.checkUniqueness()
    return state
  }

  /// Applies every transaction, or part of one, in the batch. Throws `TransactionMisfit` for one
  /// that does not fit the state, `StateFault` if a chunk of the state cannot be read.
  package mutating func apply(_ batch: inout ChangeBatch) throws {
    try apply(&batch) { (_, _, _) throws(StateFault) in }
  }

  /// As `apply(_:)`, and calls `look` before each transaction, with the state after its schema
  /// change.
  package mutating func apply(
    _ batch: inout ChangeBatch,
    look: (State, TransactionRecord, ChangeBatch) throws(StateFault) -> Void
  ) throws {
    if !holdsValues { batch.dropValues() }
    for transaction in batch.transactions {
      if transaction.part == 0, !transaction.schemaChange.isEmpty {
        state.changeSchema(transaction.schemaChange)
      }
      try look(state, transaction, batch)
      try state.apply(transaction, of: batch, direction: .forward)
    }
  }
}

extension ChangeBatch {
  /// Keeps of each change only whether its object exists afterwards.
  fileprivate mutating func dropValues() {
    for index in changes.indices { changes[index].propertyCount = 0 }
  }
}

extension State {
  /// Applies or undoes the changes of a transaction, or of a part of one. Throws
  /// `TransactionMisfit` if they do not fit the state, `StateFault` if a chunk of the state cannot
  /// be read.
  package mutating func apply(
    _ transaction: TransactionRecord, of batch: ChangeBatch, direction: ChangeDirection
  ) throws {
    do throws(StateFault) {
      try apply(batch, changes: transaction.changeRange, direction: direction)
    } catch {
      throw misfit(error, in: transaction)
    }
  }

  /// Interprets a fault of this state in a transaction's change: a misfit, unless a chunk cannot be
  /// read.
  package func misfit(_ fault: StateFault, in transaction: TransactionRecord) -> any Error {
    guard case .invalid(let entity, let row, let reason) = fault else { return fault }
    let name = schema.entity(numbered: entity)?.name ?? "entity \(entity) "
    return TransactionMisfit(
      number: transaction.number, part: transaction.part, reason: "\(name)#\(row): \(reason)")
  }
}
