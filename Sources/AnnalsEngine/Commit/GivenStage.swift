import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// A stage of the commit (`CommitStages.swift`), in place of those before *append*: a transaction
/// that has passed them on another replica, on a state equal to this one, is taken as it is.
///
/// No rule runs, nothing is derived: what they did there is among the changes. What is checked is
/// that the changes fit this state, and that the values before them are its values.
package struct GivenStage {
  private let number: Int64
  private let pending: PendingLargeValues
  private var parts: PartWriter
  private var state: State
  private var check = BeforeImageCheck()
  private var count: UInt32 = 0
  private var isComplete = false

  fileprivate init(
    _ number: Int64, _ envelope: TransactionEnvelope, _ writer: StoreWriter,
    _ pending: PendingLargeValues, on state: State
  ) throws {
    self.number = number
    self.pending = pending
    self.state = state
    parts = PartWriter(
      log: writer.log, pending: pending, envelope: envelope, batch: ChangeBatch())
    for change in envelope.schemaChange {
      if let reason = change.misfit(self.state.schema.entity(numbered: change.number)) {
        throw misfit(reason)
      }
      self.state.changeSchema([change])
    }
  }

  /// The schema, with the transaction's own changes.
  package var schema: Schema { state.schema }

  /// Writes the bytes of a large value to the file, before the first part; returns the value that
  /// its changes then name.
  package func add(
    _ bytes: UnsafeRawBufferPointer, tag: ValueTag
  ) throws(AnnalsError) -> LargeValue {
    try pending.value(of: bytes, tag: tag, reusing: [])
  }

  /// The value that a property has before the transaction, or before this part of it.
  package func value(
    of property: PropertyNumber, _ object: ObjectReference
  ) throws(AnnalsError) -> Value {
    try AnnalsError.translating { try state.value(object.entity, object.row, property) }
  }

  /// Applies changes, one part of the transaction or all of them, and writes them to the log.
  ///
  /// Throws `TransactionMisfit` if they do not fit the state; then the transaction is given up.
  package mutating func add(_ batch: ChangeBatch, isLast: Bool) throws {
    precondition(!isComplete, "a transaction has one last part")
    var record = TransactionRecord(number: number, timestamp: parts.envelope.timestamp)
    record.part = count
    record.changeCount = UInt32(batch.changes.count)
    try check.compare(record, in: batch, with: state)
    if let difference = check.difference { throw misfit(difference.says) }
    try state.apply(record, of: batch, direction: .forward)
    parts.batch = batch
    count += 1
    isComplete = isLast
    if !isLast { try parts.appendPart() }
  }

  /// Commits the transaction in the log; returns the state after it, and its last part.
  fileprivate mutating func commit() throws -> (State, ChangeBatch, isWhole: Bool) {
    precondition(isComplete, "a transaction has a last part")
    if let violation = try state.checkUniqueness().first {
      let name = state.schema.entity(numbered: violation.entity)?.name ?? "#\(violation.entity)"
      throw misfit("\(name)#\(violation.row) has the key of another object")
    }
    let isWhole = parts.isWhole && parts.envelope.schemaChange.isEmpty
    try parts.commit()
    return (state, parts.takeBatch(), isWhole)
  }

  private func misfit(_ reason: String) -> TransactionMisfit {
    TransactionMisfit(number: number, part: count, reason: reason)
  }
}

extension StoreWriter {
  /// Appends a transaction that was proposed elsewhere, for a caller that has the turn: `fill` adds
  /// its large values, and then its parts. The envelope has its date and its opening.
  ///
  /// Throws `.conflict` if `number` is not the next, `TransactionMisfit` if the transaction does
  /// not fit the newest state, and what `fill` throws. Then no trace remains.
  package func append(
    _ envelope: TransactionEnvelope, numbered number: Int64,
    _ fill: (inout GivenStage) throws -> Void
  ) throws -> Token {
    try appendingLargeValues { pending in
      let last = head.newestPosition.number
      guard number == last + 1 else {
        throw AnnalsError.conflict(
          "transaction \(number) does not follow on \(last), the newest; nothing was recorded")
      }
      var stage = try GivenStage(
        number, envelope, self, pending, on: head.takeWorkingState() ?? newest.state)
      try fill(&stage)
      var (state, batch, isWhole) = try stage.commit()
      adopt(state, &batch, isWhole: isWhole)
      let position = head.newestPosition
      return CommitResult(
        token: Token(store: log.store, number: position.number, opening: position.openingID))
    }.token
  }
}
