import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// A stage of the commit (`CommitStages.swift`): the net change of each object that a draft has
/// touched, checked, as a record.
///
/// Works object by object, so that a draft of millions needs the memory of one part.
struct ChangeStage {
  private let writer: StoreWriter
  private var validation: ChangeValidation
  private var parts: PartWriter
  /// Whether there is anything to record.
  private(set) var hasContent = false

  /// Without `pending`, the records stay in memory.
  init(
    _ writer: StoreWriter, _ draft: Draft, _ rules: CommitRules, _ pending: PendingLargeValues?
  ) {
    self.writer = writer
    validation = ChangeValidation(draft, by: rules)
    parts = PartWriter(
      log: writer.log, pending: pending, envelope: writer.envelope(of: draft),
      batch: writer.head.takeSpareBatch())
  }

  /// Collects the changes. Throws `.invalidChange` with every violation.
  mutating func run(_ draft: Draft) throws {
    try collectChanges(of: draft)
    guard !isBroken(draft) else {
      let known = draft.violations
      let violations = known + validation.violations.besides(known)
      throw AnnalsError.invalidChange(violations.named(in: draft))
    }
    hasContent =
      parts.hasChanges || !draft.changedEntities.isEmpty || draft.origin.isAlwaysRecorded
  }

  private mutating func collectChanges(of draft: Draft) throws {
    // It holds both states. It is released at the end of this stage, so that the newest version can
    // be changed in place.
    let touched = draft.touched
    var changes = NetChanges(from: draft.base, to: draft.reader.state)
    var progress = draft.recordingProgress
    for object in touched.list {
      try progress.add()
      if touched.entities.contains(object.entity),
        try draft.base.contains(object.entity, object.row)
      {
        continue
      }
      try collect(object, of: draft, &changes)
    }
    if !draft.changedEntities.isEmpty {
      for entity in draft.changedEntities.sorted() {
        try validation.checkNarrowed(entity, since: draft.base.schema)
      }
    }
    guard !touched.entities.isEmpty else { return }
    // Whole entities, however many objects: what is read for them is released on the way.
    changes = NetChanges(from: draft.base, to: draft.reader.state, isPassing: true)
    for entity in touched.entities.sorted() {
      var rows = draft.base.rows(of: entity)
      while let row = try rows.next() {
        try collect(ObjectReference(entity: entity, row: row), of: draft, &changes)
        try progress.add()
      }
    }
  }

  private mutating func collect(
    _ object: ObjectReference, of draft: Draft, _ changes: inout NetChanges
  ) throws {
    guard try normalise(object, of: draft, &changes) else { return }
    try checkRules(object, of: draft)
    if LogFile.isFull(parts.batch) { try encodePart(of: draft) }
  }

  /// Appends the object's net change to the batch; returns false if there is none.
  private mutating func normalise(
    _ object: ObjectReference, of draft: Draft, _ changes: inout NetChanges
  ) throws -> Bool {
    let arenaBefore = parts.batch.arena.count
    var isChanged = try changes.append(object, to: &parts.batch)
    if !draft.erasedAgain.isEmpty, let erased = draft.erasedAgain[object] {
      isChanged = parts.batch.record(erased, again: object, isChanged: isChanged)
    }
    guard isChanged else { return false }
    // What lies outside the arena is far below the limit, however many properties there are.
    if parts.batch.arena.count - arenaBefore > FormatLimits.maximumChangeLength / 2 {
      try draft.requireWithinLimit(parts.batch)
    }
    return true
  }

  /// Checks the last change of the batch, which is this object's.
  private mutating func checkRules(
    _ object: ObjectReference, of draft: Draft
  ) throws(AnnalsError) {
    let change = parts.batch.changes[parts.batch.changes.count - 1]
    if try validation.check(change, in: parts.batch), change.kind == .update {
      try draft.requireDeletable(object)
    }
  }

  private func isBroken(_ draft: Draft) -> Bool {
    !(draft.violations.isEmpty && validation.violations.isEmpty)
  }

  /// Appends a full batch to the log, unless the draft will be refused.
  private mutating func encodePart(of draft: Draft) throws {
    if isBroken(draft) { return parts.batch.removeAll() }
    if isWhole {
      // The rest of the transaction is not known yet.
      let isKnown = validation.hasDecimalOrDay
      noteDecimalsAndDays(try isKnown || hasDecimalOrDay(in: draft))
    }
    try parts.appendPart()
  }

  /// Whether the whole transaction is still in the batch, none of it in the log.
  var isWhole: Bool { parts.isWhole }

  /// Commits the transaction in the log.
  mutating func commit() throws {
    if isWhole { noteDecimalsAndDays(validation.hasDecimalOrDay) }
    try parts.commit()
  }

  /// Hands over the transaction, which is in memory: what it records besides its changes, and
  /// these in parts, at least one.
  mutating func takeRecords() -> (envelope: TransactionEnvelope, parts: [ChangeBatch]) {
    if isWhole { noteDecimalsAndDays(validation.hasDecimalOrDay) }
    return (parts.envelope, parts.kept + [parts.takeBatch()])
  }

  /// Notes whether the file must say that it has decimals or days, before the first part is
  /// written.
  private mutating func noteDecimalsAndDays(_ isNeeded: Bool) {
    if isNeeded { parts.envelope.features.formUnion(.decimalsAndDays) }
  }

  /// Whether the draft gives an attribute of any kind a decimal or a day, unless the file has some.
  /// O(objects of such entities).
  private func hasDecimalOrDay(in draft: Draft) throws -> Bool {
    if writer.newest.view.features.contains(.decimalsAndDays) { return false }
    var attributes: [EntityNumber: [PropertyNumber]] = [:]
    for entity in draft.schema.liveEntities {
      let found = entity.attributes.filter { !$0.isRemoved && $0.type == .any }.map(\.number)
      if !found.isEmpty { attributes[entity.number] = found }
    }
    if attributes.isEmpty { return false }
    let state = draft.reader.state
    func isGiven(_ entity: EntityNumber, _ row: Int64) throws -> Bool {
      guard let properties = attributes[entity], try state.contains(entity, row) else {
        return false
      }
      return try properties.contains { try state.value(entity, row, $0).tag.isDecimalOrDay }
    }
    for object in draft.touched.list where try isGiven(object.entity, object.row) { return true }
    for entity in draft.touched.entities where attributes[entity] != nil {
      var rows = state.rows(of: entity)
      while let row = try rows.next() {
        if try isGiven(entity, row) { return true }
      }
    }
    return false
  }

  /// Moves out the batch's memory.
  mutating func takeBatch() -> ChangeBatch { parts.takeBatch() }
}

extension Draft {
  /// Tells how many objects are recorded, if the draft changes the schema.
  fileprivate var recordingProgress: ObjectProgress {
    guard let progress, !changedEntities.isEmpty || origin.isMigration else {
      return ObjectProgress(nil, .recording, of: 0)
    }
    let whole = touched.entities.reduce(0) { $0 + base.count(of: $1) }
    return ObjectProgress(progress, .recording, of: touched.list.count + whole)
  }
}
