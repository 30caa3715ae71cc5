import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Where a transaction comes from, besides its changes.
package struct TransactionOrigin: Sendable {
  package var author: String?
  package var context: String?
  package var metadata: [String: Value] = [:]
  /// The transaction's own moment, kept as it is; nil takes the clock's.
  package var timestamp: Timestamp?
  /// The opening that the transaction names; nil names this one.
  package var opening: Opening?
  /// Whether the transaction is recorded even if nothing changed.
  package var isAlwaysRecorded = false
  /// Whether relationships may name objects that do not exist: for imports of what another store
  /// once allowed.
  package var allowsDangling = false
  /// Whether required values may be missing: what led over a gap knows some no more.
  package var allowsMissing = false

  package init(author: String? = nil, context: String? = nil, metadata: [String: Value] = [:]) {
    self.author = author
    self.context = context
    self.metadata = metadata
  }
}

extension StoreWriter {
  /// Runs the closure on a new transaction and commits what it did; returns the position after it,
  /// the head's if nothing changed. If it throws, no trace remains.
  package func transact(
    _ origin: TransactionOrigin, _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    let pending = PendingLargeValues(log: log)
    let transaction = begin(origin, pending)
    do {
      try body(transaction)
      transaction.close()
      if let failure = transaction.failure { throw failure }
      switch try commit(transaction, pending) {
      case .nothing: break
      case .whole where canMoveOn(by: spareBatch) && transaction.schemaChange.isEmpty:
        moveOn(by: &spareBatch, to: transaction.takeState())
      case .whole, .parts: advance(to: transaction.reader.state, isCommit: true)
      }
      return Token(store: log.store, number: newestHead.number, opening: newestHead.openingID)
    } catch {
      transaction.close()
      if pending.hasBegun { log.abort() }
      if let error = error as? LogError { throw AnnalsError(error) }
      if let error = error as? StateFault { throw AnnalsError(error) }
      throw error
    }
  }

  /// A transaction on the newest state.
  private func begin(
    _ origin: TransactionOrigin, _ pending: PendingLargeValues
  ) -> WriteTransaction {
    let version = newest
    return WriteTransaction(
      base: version.state, working: takeWorkingState() ?? version.state, store: log.store,
      origin: origin, largeValues: pending, records: version.records)
  }

  /// What was recorded of a transaction.
  private enum Recorded {
    case nothing
    /// All changes, by one batch, which is `spareBatch` now.
    case whole
    /// More changes than one batch should hold.
    case parts
  }

  /// Checks and appends the transaction's net changes, if there are any.
  private func commit(
    _ transaction: WriteTransaction, _ pending: PendingLargeValues
  ) throws -> Recorded {
    let collisions = try collisions(in: transaction)
    // Rules are made once for a schema, unless this very transaction changes it.
    let schemaVersion = newestSchemaVersion
    let knowsRules = transaction.schemaChange.isEmpty && knownRulesVersion == schemaVersion
    var validation = ChangeValidation(
      state: transaction.reader.state, largeValues: pending,
      knownRules: knowsRules ? knownRules : [])
    defer {
      if transaction.schemaChange.isEmpty {
        knownRules = validation.rules
        knownRulesVersion = schemaVersion
      }
    }
    validation.allowsDangling = transaction.origin.allowsDangling
    validation.allowsMissing = transaction.origin.allowsMissing
    try requireStorable(transaction.metadata)
    var parts = PartWriter(log: log, pending: pending, draft: draft(for: transaction))
    defer { spareBatch = parts.takeBatch() }
    parts.giveBatch(&spareBatch)
    var changes = NetChanges(from: transaction.base, to: transaction.reader.state)
    for object in transaction.touched.list {
      let arenaBefore = parts.batch.arena.count
      guard try changes.append(object, to: &parts.batch) else { continue }
      // What is not in the arena is far below the limit, however many properties there are.
      if parts.batch.arena.count - arenaBefore > FormatLimits.maximumChangeLength / 2 {
        try requireWithinLimit(parts.batch, transaction)
      }
      let change = parts.batch.changes[parts.batch.changes.count - 1]
      if try validation.check(change, in: parts.batch), change.kind == .update {
        try requireDeletable(object, in: transaction)
      }
      if LogFile.isFull(parts.batch) {
        let isRefused =
          !(validation.violations.isEmpty && collisions.isEmpty && transaction.violations.isEmpty)
        if isRefused { parts.batch.removeAll() } else { try parts.appendPart() }
      }
    }
    if !(transaction.violations.isEmpty && collisions.isEmpty && validation.violations.isEmpty) {
      let told = transaction.violations + collisions
      let violations = told + validation.violations.besides(told)
      throw AnnalsError.invalidChange(violations.named(in: transaction))
    }
    let isEmpty = !parts.hasChanges && transaction.schemaChange.isEmpty
    if isEmpty, !transaction.origin.isAlwaysRecorded {
      if pending.hasBegun { log.abort() }
      return .nothing
    }
    let isWhole = parts.isWhole
    let position = try parts.finish()
    if transaction.origin.timestamp == nil { lastOwnTimestamp = position.timestamp }
    return isWhole ? .whole : .parts
  }

  /// Throws `invalidChange` or `tooLarge` for metadata that no file may hold.
  private func requireStorable(_ metadata: [String: Value]) throws(AnnalsError) {
    guard metadata.count <= FormatLimits.maximumChanges else {
      throw AnnalsError(
        .tooLarge,
        "the transaction has \(metadata.count) entries of metadata; the most is "
          + "\(FormatLimits.maximumChanges). Nothing was recorded")
    }
    for (key, value) in metadata {
      let problem: String
      switch value {
      case .double(let number) where !number.isFinite: problem = "\(number) is no finite number"
      case .large: problem = "it is a large value that was not read; give it its bytes"
      default: continue
      }
      throw AnnalsError(
        .invalidChange, "the metadata `\(key)` cannot be kept; nothing was recorded: \(problem)")
    }
  }

  private func draft(for transaction: WriteTransaction) -> TransactionDraft {
    let origin = transaction.origin
    var metadata: [MetadataEntry] = []
    if !transaction.metadata.isEmpty {
      metadata = transaction.metadata.map { MetadataEntry(key: $0.key, value: $0.value) }
        .sorted { $0.key.precedesInBytes($1.key) }
    }
    return TransactionDraft(
      timestamp: origin.timestamp ?? nextTimestamp(), author: origin.author,
      context: origin.context, metadata: metadata, schemaChange: transaction.schemaChange,
      opening: origin.opening)
  }

  /// The clock's moment; one microsecond after the last own one if the clock has gone back.
  private func nextTimestamp() -> Timestamp {
    let now = self.now()
    let last = lastOwnTimestamp ?? newestHead.timestamp
    if newestHead.number == 0 || now >= last { return now }
    log.noteClockJump()
    return Timestamp(microseconds: last.microseconds &+ 1)
  }

  /// The values that would be there twice.
  private func collisions(
    in transaction: WriteTransaction
  ) throws(AnnalsError) -> [ValidationViolation] {
    let found = try AnnalsError.translating { () throws(StateFault) in
      try transaction.reader.state.checkUniqueness()
    }
    guard !found.isEmpty else { return [] }
    let state = transaction.reader.state
    return found.map { ValidationViolation($0, in: state) }
  }
}

extension [ValidationViolation] {
  /// Without those that repeat others, or only follow from them: where a value was refused, that
  /// there is none.
  fileprivate func besides(_ others: [ValidationViolation]) -> [ValidationViolation] {
    guard !others.isEmpty else { return self }
    return filter { violation in
      !others.contains {
        $0.object == violation.object && $0.property.hasSameBytes(as: violation.property)
          && (violation.rule == .required || $0.rule == violation.rule)
      }
    }
  }
}

/// Hands a transaction's changes to the log, part by part if they are many.
private struct PartWriter {
  package let log: LogFile
  let pending: PendingLargeValues
  let draft: TransactionDraft
  var batch = ChangeBatch()
  private var partCount = 0

  init(log: LogFile, pending: PendingLargeValues, draft: TransactionDraft) {
    self.log = log
    self.pending = pending
    self.draft = draft
  }

  /// Whether the batch has all changes.
  var isWhole: Bool { partCount == 0 }

  var hasChanges: Bool { partCount > 0 || !batch.changes.isEmpty }

  /// Takes over a batch's memory, empty.
  mutating func giveBatch(_ spare: inout ChangeBatch) {
    swap(&batch, &spare)
    batch.removeAll()
  }

  /// Gives the batch's memory back.
  mutating func takeBatch() -> ChangeBatch {
    var result = ChangeBatch()
    swap(&result, &batch)
    return result
  }

  /// Appends what the batch holds as a part that others follow, and empties it.
  mutating func appendPart() throws {
    try begin()
    try log.appendPart(&batch, isLast: false)
    partCount += 1
    batch.removeAll()
  }

  /// Appends what is left and ends the transaction.
  package mutating func finish() throws -> LogPosition {
    if partCount == 0, !pending.hasBegun { return try log.append(draft, &batch) }
    try begin()
    try log.appendPart(&batch, isLast: true)
    return try log.finish()
  }

  private mutating func begin() throws {
    try pending.beginIfNeeded()
    if partCount == 0 { try log.describe(draft) }
  }
}

extension ValidationViolation {
  /// The violation of a uniqueness rule.
  init(_ found: UniqueViolation, in state: State) {
    let entity = state.schema.entity(numbered: found.entity) ?? Entity("#\(found.entity)")
    let rule = entity.uniqueRules.first { $0.number == found.rule }
    let properties = rule?.properties ?? []
    let names = properties.map { entity.propertyName($0) ?? "#\($0)" }.joined(separator: ", ")
    let value = properties.first.flatMap {
      try? state.value(found.entity, found.row, $0)
    }
    self.init(
      entity: entity.name, object: ObjectReference(entity: found.entity, row: found.row),
      property: names,
      rule: found.otherRow.map { .unique(ObjectReference(entity: found.entity, row: $0)) }
        ?? .uniqueLength(SchemaLimits.uniqueValueLength),
      value: value ?? .null)
  }
}
