// One commit, from top to bottom. Each stage is a function; they run in this order. To add a stage,
// add a call in `appendTransaction` or `run`.
//
// 1. turn            the writer's lock, the file lock, catching up with other processes (`write`)
// 2. body            the caller's closure changes the working state
// 3. preconditions   `basedOn:` and `expecting:` hold
// 4. merge           changes based on an earlier state go into the newest one
// 5. uniqueness      no unique key occurs twice
// 6. normalise       the net change of each object, in the form of records
// 7. rules           each change is checked against the schema
// 8. encode          full parts go to the log, uncommitted; the transaction's head is made
// 9. append          the last part; from now on the commit is the newest state
// 10. sync           shared with the commits of its group; none with `.deferred`
// 11. publish        readers and the feed see it
//
// Through stage 8 the transaction can still be refused; then no trace remains.

import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension StoreWriter {
  /// Commits one transaction, and writes a checkpoint if one is due. Returns the position after it;
  /// the head's if nothing changed. If it throws, no trace remains, except where the error says
  /// otherwise (`outcomeUnknown`). Stops waiting for the file lock once `isCancelled` is true.
  package func commit(
    _ origin: TransactionOrigin, _ preconditions: (any CommitPreconditions)? = nil,
    unless isCancelled: (@Sendable () -> Bool)? = nil, _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    // `write` takes the turn, and then syncs as a leader or follower; the leader publishes.
    let token = try write(unless: isCancelled) {
      try $0.appendTransaction(origin, preconditions, body)
    }
    checkpointIfDue()
    return token
  }

  /// The stages from the body to the append, for a caller that has the turn.
  package func appendTransaction(
    _ origin: TransactionOrigin, _ preconditions: (any CommitPreconditions)? = nil,
    _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    let pending = PendingLargeValues(log: log)
    do {
      let transaction = try run(body, origin, pending, preconditions)
      try requireDatable(transaction.origin.timestamp)
      try requireStorable(transaction.metadata)
      let collisions = try collisions(of: transaction)
      var pipeline = CommitPipeline(self, transaction, pending, collisions)
      try pipeline.run()
    } catch {
      if pending.hasBegun { log.abort() }
      if let error = error as? LogError { throw AnnalsError(error) }
      if let error = error as? StateFault { throw AnnalsError(error) }
      throw error
    }
    let newest = head.newestPosition
    return Token(store: log.store, number: newest.number, opening: newest.openingID)
  }
}

/// The stages of a commit behind uniqueness, to the append.
private struct CommitPipeline {
  let writer: StoreWriter
  let transaction: WriteTransaction
  let pending: PendingLargeValues
  var validation: ChangeValidation
  var parts: PartWriter
  /// Unique keys that would occur twice.
  let collisions: [ValidationViolation]

  init(
    _ writer: StoreWriter, _ transaction: WriteTransaction, _ pending: PendingLargeValues,
    _ collisions: [ValidationViolation]
  ) {
    self.writer = writer
    self.transaction = transaction
    self.pending = pending
    self.collisions = collisions
    validation = writer.validation(of: transaction, pending)
    parts = PartWriter(
      log: writer.log, pending: pending, draft: writer.draft(for: transaction),
      batch: writer.head.takeSpareBatch())
  }

  mutating func run() throws {
    defer { writer.keepRules(of: validation, transaction) }
    try collectChanges()
    try refuseIfBroken()
    guard hasContent else {
      if pending.hasBegun { writer.log.abort() }
      return writer.head.recycle(parts.takeBatch())
    }
    try append()
  }

  private mutating func collectChanges() throws {
    // It holds both states. It is released at the end of this stage, so that the newest version can
    // be changed in place.
    let (base, touched) = (transaction.base, transaction.touched)
    var changes = NetChanges(from: base, to: transaction.reader.state)
    for object in touched.list {
      if touched.entities.contains(object.entity), try base.contains(object.entity, object.row) {
        continue
      }
      try collect(object, &changes)
    }
    for entity in transaction.changedEntities.sorted() {
      try validation.checkNarrowed(entity, since: base.schema)
    }
    guard !touched.entities.isEmpty else { return }
    // Whole entities, however many objects: what is read for them is released on the way.
    changes = NetChanges(from: base, to: transaction.reader.state, isPassing: true)
    for entity in touched.entities.sorted() {
      var rows = base.rows(of: entity)
      while let row = try rows.next() {
        try collect(ObjectReference(entity: entity, row: row), &changes)
      }
    }
  }

  private mutating func collect(_ object: ObjectReference, _ changes: inout NetChanges) throws {
    guard try normalise(object, &changes) else { return }
    try checkRules(object)
    if LogFile.isFull(parts.batch) { try encodePart() }
  }

  /// Appends the object's net change to the batch; returns false if there is none.
  private mutating func normalise(
    _ object: ObjectReference, _ changes: inout NetChanges
  ) throws -> Bool {
    let arenaBefore = parts.batch.arena.count
    var isChanged = try changes.append(object, to: &parts.batch)
    if !transaction.erasedAgain.isEmpty, let erased = transaction.erasedAgain[object] {
      isChanged = parts.batch.record(erased, again: object, isChanged: isChanged)
    }
    guard isChanged else { return false }
    // What lies outside the arena is far below the limit, however many properties there are.
    if parts.batch.arena.count - arenaBefore > FormatLimits.maximumChangeLength / 2 {
      try writer.requireWithinLimit(parts.batch, transaction)
    }
    return true
  }

  /// Checks the last change of the batch, which is this object's.
  private mutating func checkRules(_ object: ObjectReference) throws(AnnalsError) {
    let change = parts.batch.changes[parts.batch.changes.count - 1]
    if try validation.check(change, in: parts.batch), change.kind == .update {
      try writer.requireDeletable(object, in: transaction)
    }
  }

  private var isBroken: Bool {
    !(transaction.violations.isEmpty && collisions.isEmpty && validation.violations.isEmpty)
  }

  /// Appends a full batch to the log, unless the transaction will be refused.
  private mutating func encodePart() throws {
    if isBroken { return parts.batch.removeAll() }
    try parts.appendPart()
  }

  private func refuseIfBroken() throws(AnnalsError) {
    guard isBroken else { return }
    let known = transaction.violations + collisions
    let violations = known + validation.violations.besides(known)
    throw AnnalsError.invalidChange(violations.named(in: transaction))
  }

  /// Whether there is anything to record.
  private var hasContent: Bool {
    parts.hasChanges || !transaction.changedEntities.isEmpty || transaction.origin.isAlwaysRecorded
  }

  /// Commits the transaction in the log, and makes its state the newest one.
  private mutating func append() throws {
    let isWhole = parts.isWhole && transaction.changedEntities.isEmpty
    try parts.commit()
    writer.appended(transaction.takeState(), parts.takeBatch(), isWhole: isWhole)
  }
}

extension StoreWriter {
  /// The most changes that are applied while readers wait, and kept for the feed.
  private static let mostChangesAtHand = 16

  /// Adopts a commit that is in the log: it joins a group or, with `.deferred`, is published.
  ///
  /// If another commit is expected soon, the state is kept for it.
  fileprivate func appended(_ state: State, _ batch: ChangeBatch, isWhole: Bool) {
    let view = log.view
    let isSmall = isWhole && batch.changes.count <= StoreWriter.mostChangesAtHand
    hasCommitted = true
    noteLength(of: view)
    head.append(
      state, isSmall ? batch : nil, view: view,
      keepsWorking: isSmall && (run == nil || isRunWatched))
    if !isSmall { head.recycle(batch) }
    if options.durability == .deferred {
      head.publishAppended()
    } else {
      joined = group.join(after: joined)
    }
  }

  /// A validation with the cached rules, unless this transaction changes the schema.
  fileprivate func validation(
    of transaction: WriteTransaction, _ pending: PendingLargeValues
  ) -> ChangeValidation {
    let isKnown =
      transaction.changedEntities.isEmpty && knownRulesVersion == head.newestSchemaVersion
    var validation = ChangeValidation(
      state: transaction.reader.state, largeValues: pending, knownRules: isKnown ? knownRules : [])
    validation.allowsDangling = transaction.origin.allowsDangling
    validation.allowsMissing = transaction.origin.allowsMissing
    validation.earlier = transaction.earlier
    return validation
  }

  /// Caches the rules that a validation prepared.
  fileprivate func keepRules(of validation: ChangeValidation, _ transaction: WriteTransaction) {
    guard transaction.changedEntities.isEmpty else { return }
    knownRules = validation.rules
    knownRulesVersion = head.newestSchemaVersion
  }

  /// Throws `invalidArgument` for a timestamp that leaves no room for others around it.
  fileprivate func requireDatable(_ timestamp: Timestamp?) throws(AnnalsError) {
    guard let timestamp, !Timestamp.transactionRange.contains(timestamp) else { return }
    throw AnnalsError(
      .invalidArgument,
      "a transaction cannot be dated \(timestamp); \(Timestamp.transactionRangeText). Nothing was "
        + "recorded")
  }

  /// Throws `invalidChange` or `tooLarge` for metadata that a file cannot hold.
  fileprivate func requireStorable(_ metadata: [String: Value]) throws(AnnalsError) {
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
      case .erased: problem = "it is no value"
      case .large: problem = "it is a large value that was not read; give it its bytes"
      case .object, .objects:
        // A row comes from the text form of an id, too, and may be any number.
        let rows = 1...FormatLimits.maximumRow
        guard let wrong = value.targets.first(where: { !rows.contains($0.row) }) else { continue }
        problem = "no object can be in row \(wrong.row)"
      default: continue
      }
      throw AnnalsError(
        .invalidChange, "the metadata `\(key)` cannot be kept; nothing was recorded: \(problem)")
    }
  }

  /// The record's content besides the changes. Reads the clock.
  fileprivate func draft(for transaction: WriteTransaction) -> TransactionDraft {
    let origin = transaction.origin
    var metadata: [MetadataEntry] = []
    if !transaction.metadata.isEmpty {
      metadata = transaction.metadata.map { MetadataEntry(key: $0.key, value: $0.value) }
        .sorted { $0.key.precedesInBytes($1.key) }
    }
    var draft = TransactionDraft(
      timestamp: origin.timestamp ?? now(), author: origin.author, context: origin.context,
      metadata: metadata, schemaChange: transaction.schemaChange, opening: origin.opening)
    if origin.timestamp == nil { keepOrder(&draft) }
    draft.features = origin.features
    if let erasure = origin.erasure { ErasureCodec.append(erasure, to: &draft.extensions) }
    return draft
  }

  /// The most that a clock may go back without a mark, in microseconds.
  private static let smallStepBack: Int64 = 1_000_000

  /// Where the clock is a little behind the newest transaction, dates this one just behind it. A
  /// larger step back keeps what the clock says, and is marked.
  private func keepOrder(_ draft: inout TransactionDraft) {
    let newest = head.newestPosition
    guard newest.number > 0, draft.timestamp < newest.timestamp else { return }
    let last = newest.timestamp.microseconds
    let (step, overflow) = last.subtractingReportingOverflow(draft.timestamp.microseconds)
    if !overflow, step <= StoreWriter.smallStepBack, last < .max {
      draft.timestamp = Timestamp(microseconds: last + 1)
    } else {
      draft.extensions = ExtensionArea.ofClockJump
    }
  }
}
