import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Builds a state from what the log hands out: a checkpoint, then the batches behind it.
package struct StateReplay {
  package private(set) var state: State
  /// Without them only which objects there are is right.
  fileprivate let holdsValues: Bool

  /// Starts from the state without entities.
  package init(holdingValues holdsValues: Bool = true) {
    self.init(state: State(schema: Schema()), holdingValues: holdsValues)
  }

  /// Starts from a state at hand.
  package init(state: State, holdingValues holdsValues: Bool = true) {
    self.state = state
    self.holdsValues = holdsValues
  }

  /// Starts afresh from a checkpoint, or from the empty state.
  package mutating func restore(_ start: LogStart) throws(StateFault) {
    try restore(start.directory, schema: start.schema, file: start.file)
  }

  /// Starts afresh from a checkpoint's directory, or without one from the empty state.
  package mutating func restore(
    _ directory: CheckpointDirectory?, schema: Schema, file: LogGeneration
  ) throws(StateFault) {
    guard let directory else {
      state = State(schema: schema)
      return
    }
    state = try State(directory: directory, source: LogChunkSource(file))
  }

  /// The state, its indexes brought up to date for whoever reads it.
  ///
  /// The log holds nothing that breaks a rule of uniqueness, so what the check returns is of no
  /// interest here; `Store.verify` looks at it.
  package consuming func finish() throws(StateFault) -> State {
    _ = try state.checkUniqueness()
    return state
  }

  /// Applies every transaction, or part of one, in the batch. Throws `TransactionMisfit` for one
  /// that does not fit, `StateFault` for a part of the state that cannot be had.
  package mutating func apply(_ batch: inout ChangeBatch) throws {
    try apply(&batch) { (_, _, _) throws(StateFault) in }
  }

  /// Applies every transaction, or part of one, in the batch; before each, but behind its change of
  /// the schema, `look` sees the state.
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
      try state.take(transaction, of: batch, direction: .forward)
    }
  }
}

extension ChangeBatch {
  /// Leaves of each change only what becomes of the object.
  fileprivate mutating func dropValues() {
    for index in changes.indices { changes[index].propertyCount = 0 }
  }
}

extension State {
  /// Applies or undoes the changes of a transaction, or of a part of one. Throws
  /// `TransactionMisfit` if they do not fit, `StateFault` if a part of the state cannot be had.
  package mutating func take(
    _ transaction: TransactionRecord, of batch: ChangeBatch, direction: ChangeDirection
  ) throws {
    do throws(StateFault) {
      try apply(batch, changes: transaction.changeRange, direction: direction)
    } catch {
      throw misfit(error, in: transaction)
    }
  }

  /// What a fault of this state in a transaction's change means: a misfit, unless a part of the
  /// state cannot be had.
  package func misfit(_ fault: StateFault, in transaction: TransactionRecord) -> any Error {
    guard case .invalid(let entity, let row, let reason) = fault else { return fault }
    let name = schema.entity(numbered: entity)?.name ?? "entity \(entity) "
    return TransactionMisfit(number: transaction.number, reason: "\(name)#\(row): \(reason)")
  }
}

extension LogFile {
  /// The state that a replay up to the head has led to. If only now a part of the checkpoint that
  /// it began with proves damaged, everything is replayed from the base.
  ///
  /// Throws what replaying throws: the log then stands at its head all the same.
  package func state(after replay: consuming StateReplay) throws(LogError) -> State {
    let holdsValues = replay.holdsValues
    do throws(StateFault) {
      return try replay.finish()
    } catch {
      var again = StateReplay(holdingValues: holdsValues)
      try reload(
        from: .base, restore: { try again.restore($0) }, apply: { try again.apply(&$0) })
      do throws(StateFault) {
        return try again.finish()
      } catch {
        throw .interrupted(error)
      }
    }
  }
}
