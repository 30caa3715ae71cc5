import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

// The state as of a past transaction. Two ways lead there: from this version backward, undoing what
// came after, and from a checkpoint or the base forward. The shorter one is taken, counted in
// transactions.

extension StoreVersion {
  /// The state just after the transaction of this number, which the store holds; with `naming`,
  /// only these properties of what transactions on the way changed are as they were then.
  package func state(
    at number: Int64, keeping naming: NamingProperties? = nil
  ) throws(AnnalsError) -> State {
    if holdsValues, number == view.head.number { return state }
    do {
      let directory = try view.checkpoint(atOrBefore: number)
      let start = directory?.number ?? view.base
      if holdsValues, view.head.number - number <= number - start {
        // What lies behind the number may be what does not fit; then the other way is free.
        do { return try stateByUndoing(to: number, naming) } catch is TransactionMisfit {}
      }
      guard !holdsValues, let directory, !directory.isBase else {
        return try stateByReplaying(from: directory, to: number, keeping: naming)
      }
      // As in an opening, the base stands in for a checkpoint of which a chunk is damaged.
      do {
        return try stateByReplaying(from: directory, to: number, keeping: naming)
      } catch is StateFault {
        return try stateByReplaying(from: view.baseDirectory(), to: number, keeping: naming)
      }
    } catch {
      throw AnnalsError.wrapping(view.locating(error))
    }
  }

  /// The states just after two transactions, the earlier one first.
  package func states(
    at first: Int64, and second: Int64, keeping naming: NamingProperties
  ) throws(AnnalsError) -> (State, State) {
    let early = try state(at: first, keeping: naming)
    // What is held can be gone back from; otherwise the later one continues the earlier.
    if holdsValues { return (early, try state(at: second, keeping: naming)) }
    do {
      return (
        early, try state(continuing: StateReplay(state: early), from: first, to: second, naming)
      )
    } catch {
      throw AnnalsError.wrapping(view.locating(error))
    }
  }

  private func stateByUndoing(to number: Int64, _ naming: NamingProperties?) throws -> State {
    var state = state
    var cursor = try view.history(
      after: number, through: view.head.number, direction: .backward)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      naming?.reduce(&batch)
      for transaction in batch.transactions {
        try state.take(transaction, of: batch, direction: .backward)
        if transaction.part == 0, !transaction.schemaChange.isEmpty {
          state.setSchema(view.schema(at: transaction.number - 1))
        }
      }
    }
    return try StateReplay(state: state).finish()
  }

  /// The state from a checkpoint, or from the empty base, forward.
  package func stateByReplaying(
    from directory: CheckpointDirectory?, to number: Int64, keeping naming: NamingProperties? = nil
  ) throws -> State {
    var replay = StateReplay()
    let start = directory?.number ?? view.base
    try replay.restore(directory, schema: view.schema(at: start), file: view.file)
    return try state(continuing: replay, from: start, to: number, naming)
  }

  private func state(
    continuing start: StateReplay, from first: Int64, to number: Int64, _ naming: NamingProperties?
  ) throws -> State {
    var replay = start
    var cursor = try view.history(after: first, through: number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      naming?.reduce(&batch)
      try replay.apply(&batch)
    }
    return try replay.finish()
  }
}

extension StoreVersion {
  /// The state just after the transaction of this number, for a write to begin with: with the
  /// schema and the indexes of now, and rows for new objects that were never given.
  ///
  /// O(transactions since); O(objects) of an entity of which an index came since.
  package func stateForWriting(at number: Int64) throws(AnnalsError) -> State {
    var past = try state(at: number)
    return try AnnalsError.translating { () throws(StateFault) in
      if past.schema != state.schema { past.changeSchema(state.schema.entities) }
      past.adoptNextRows(of: state)
      _ = try past.checkUniqueness()
      return past
    }
  }
}
