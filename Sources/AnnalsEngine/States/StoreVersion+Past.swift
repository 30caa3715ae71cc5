import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

// States of past transactions. Two ways lead there: undo from this version backward, or replay from
// a checkpoint or the base forward. The one with fewer transactions is used.

extension StoreVersion {
  /// The state just after this transaction, which the store must hold. With `naming`, only these
  /// properties are as they were then, of objects that the transactions on the way changed.
  package func state(
    at number: Int64, keeping naming: NamingProperties? = nil
  ) throws(AnnalsError) -> State {
    if holdsValues, number == view.head.number { return state }
    do {
      let directory = try view.checkpoint(atOrBefore: number)
      let start = directory?.number ?? view.base
      if holdsValues, view.head.number - number <= number - start {
        // If the undo meets damage after that transaction, replaying may still succeed.
        do {
          return try stateByUndoing(to: number, naming, from: state, asOf: view.head.number)
        } catch is TransactionMisfit {}
      }
      guard !holdsValues, let directory, !directory.isBase else {
        return try stateByReplaying(from: directory, to: number, keeping: naming)
      }
      // As in an opening, the base replaces a checkpoint with a damaged chunk.
      do {
        return try stateByReplaying(from: directory, to: number, keeping: naming)
      } catch is StateFault {
        return try stateByReplaying(from: view.baseDirectory(), to: number, keeping: naming)
      }
    } catch {
      throw AnnalsError.translated(view.locating(error))
    }
  }

  /// A reader of the state just after a transaction. With `objects`, only keys, relationships and
  /// the values of these objects are reliable.
  package func reader(
    at number: Int64, withOnly objects: Set<ObjectReference>? = nil
  ) throws(AnnalsError) -> StateReader {
    if holdsValues, number == view.head.number { return reader(of: state) }
    let state = try state(
      at: number, keeping: objects.map { NamingProperties(view, andAllOf: $0) })
    return StateReader(state: state, store: store, largeValues: LogLargeValues(view))
  }

  /// The states just after two transactions, the earlier one first.
  package func states(
    at first: Int64, and second: Int64, keeping naming: NamingProperties
  ) throws(AnnalsError) -> (State, State) {
    let early = try state(at: first, keeping: naming)
    // If undoing gets there from the state in memory, undo twice; otherwise continue the earlier
    // one.
    if holdsValues { return (early, try state(at: second, keeping: naming)) }
    do {
      return (
        early, try state(continuing: StateReplay(state: early), from: first, to: second, naming)
      )
    } catch {
      throw AnnalsError.translated(view.locating(error))
    }
  }

  /// The state just after a transaction, from the one just after a later transaction, by undoing
  /// those in between. Throws as `state(at:)`.
  func state(
    at number: Int64, undoing later: State, asOf last: Int64
  ) throws(AnnalsError) -> State {
    if number == last { return later }
    do {
      return try stateByUndoing(to: number, nil, from: later, asOf: last)
    } catch {
      // If the undo meets damage after that transaction, replaying may still succeed.
      return try state(at: number)
    }
  }

  /// The state just after a transaction, from a known one of this history if that is near, or else
  /// as `state(at:)`. Throws as that does.
  package func state(
    at number: Int64, near known: State, asOf start: Int64
  ) throws(AnnalsError) -> State {
    let distance = (number - start).magnitude
    guard holdsValues, distance <= StoreVersion.nearDistance,
      distance <= UInt64(view.head.number - number)
    else { return try state(at: number) }
    do {
      if number <= start { return try stateByUndoing(to: number, nil, from: known, asOf: start) }
      return try state(continuing: StateReplay(state: known), from: start, to: number, nil)
    } catch {
      return try state(at: number)
    }
  }

  /// From a known state so many transactions away another one is made without a search for a
  /// nearer checkpoint.
  private static let nearDistance: UInt64 = 2_000

  /// Its indexes follow when somebody reads one: most past states are read for single objects.
  private func stateByUndoing(
    to number: Int64, _ naming: NamingProperties?, from later: State, asOf last: Int64
  ) throws -> State {
    var state = later
    var cursor = try view.history(after: number, through: last, direction: .backward)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      naming?.reduce(&batch)
      for transaction in batch.transactions {
        try state.apply(transaction, of: batch, direction: .backward)
        if transaction.part == 0, !transaction.schemaChange.isEmpty {
          state.setSchema(view.schema(at: transaction.number - 1))
        }
      }
    }
    state.deferIndexes()
    return state
  }

  /// The state by replay from a checkpoint, or from the empty base.
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
    return try replay.makeState()
  }
}

extension StoreVersion {
  /// The state just after this transaction, for a write that is based on it: with the newest schema
  /// and indexes, and with new rows that were never used.
  ///
  /// O(transactions since); O(objects) for an entity that has got an index since.
  package func stateForWriting(at number: Int64) throws(AnnalsError) -> State {
    try forWriting(state(at: number))
  }

  /// A past state for a write that is based on it, as `stateForWriting`.
  func forWriting(_ past: State) throws(AnnalsError) -> State {
    var past = past
    return try AnnalsError.translating {
      if past.schema != state.schema { past.changeSchema(state.schema.entities) }
      past.adoptNextRows(of: state)
      _ = try past.checkUniqueness()
      return past
    }
  }
}
