import AnnalsFormat
import AnnalsModel

/// Checks the transactions of a file in order: their numbers, parts, names, openings and
/// timestamps, and their changes against the schema.
package struct TransactionChecks {
  /// The names, openings and schema as of the last transaction.
  private(set) var vocabulary = Vocabulary()
  /// The number that comes next; nil if the base is unknown.
  private(set) var expected: Int64?
  /// The changes of the schema, from the schema of the base on.
  private(set) var schemaHistory: [SchemaHistoryEntry] = []
  /// The number of changes so far, those of unfinished transactions included.
  private(set) var changeCount: Int64 = 0
  /// The number of transactions that record a jump of their clock.
  private(set) var clockJumps: Int64 = 0
  /// The greatest timestamp so far; nil if that of the base is not known.
  private(set) var maximumTimestamp: Timestamp?
  /// The last transaction.
  private(set) var last: TransactionRecord?
  /// Whether no frame was missed, so that references to names and definitions can be checked.
  private(set) var isComplete = true
  /// The first part of a transaction whose last part is still to come.
  private var unfinished: TransactionRecord?
  private var lookup = SchemaLookup()
  /// The first frame with an erased value or a record of an erasure.
  private(set) var firstErasure: UInt64?
  /// The first frame with a group, or with something that is undone.
  private(set) var firstUndo: UInt64?
  /// The first frame with a decimal or a day, or with the definition of an attribute of them.
  private(set) var firstDecimalOrDay: UInt64?
  /// The migrations so far, and the first frame with one.
  private(set) var migrations: [MigrationRecord] = []
  private(set) var firstMigration: UInt64?

  /// The number of the last whole transaction; nil if unknown.
  var head: Int64? { unfinished == nil ? expected.map { $0 - 1 } : nil }

  init(base: Int64?, timestamp: Timestamp?) {
    expected = base?.successor
    maximumTimestamp = timestamp
  }

  /// Begins with the contents of the base's checkpoint; nil for what could not be read.
  mutating func begin(_ directory: CheckpointDirectory?, names: [String]?, openings: [Opening]?) {
    guard let directory, let names, let openings else { return markIncomplete() }
    vocabulary.learn(directory.schema, names: names, openings: openings)
    for entity in directory.schema.entities { lookup.learn(EntityChange(entity)) }
    migrations = directory.migrations
    guard !directory.schema.entities.isEmpty else { return }
    schemaHistory = [
      SchemaHistoryEntry(number: directory.number, schema: directory.schema.entities)
    ]
  }

  /// Notes that transactions may be missing. From here on references are not checked.
  mutating func markIncomplete() { isComplete = false }

  /// Begins behind a written transaction: its number, the greatest timestamp so far, and the names,
  /// openings and schema as of it. O(names).
  package init(
    head: Int64, timestamp: Timestamp, names: [String], openings: [Opening], schema: Schema
  ) {
    self.init(base: head, timestamp: timestamp)
    vocabulary.learn(schema, names: names, openings: openings)
    for entity in schema.entities { lookup.learn(EntityChange(entity)) }
  }

  /// Checks the next transaction, or part of one, of the frame at `offset`. Calls `refer` with each
  /// reference to a large value in it.
  mutating func check(
    _ record: TransactionRecord, in batch: ChangeBatch, at offset: UInt64, _ log: inout FindingLog,
    refer: (LargeValue, inout FindingLog) -> Void
  ) {
    check(record, at: offset, &log)
    changes(of: record, in: batch, at: offset, &log, refer: refer)
  }

  /// What is wrong with tombstones according to the base's tables; nil if nothing is, or they are
  /// not known.
  package func fault(ofTombstones batch: ChangeBatch) -> String? {
    guard isComplete else { return nil }
    for record in batch.transactions {
      if let fault = known.faults(of: record).first {
        return "transaction \(record.number), which \(fault.text)"
      }
    }
    for change in batch.changes {
      guard lookup.has(change.entity) else { return "an entity that the schema does not have" }
      for property in batch.properties[change.propertyRange] {
        guard lookup.has(property.property, of: change.entity),
          lookup.admits(property.before.tag, in: property.property, of: change.entity)
        else { return "a value that the schema does not have" }
      }
    }
    return nil
  }

  /// Reports a transaction that the end of the log leaves without its last part.
  func reportUnfinished(at offset: UInt64, _ log: inout FindingLog) {
    if let unfinished {
      log.error(.part, at: offset, "transaction \(unfinished.number) lacks its last part")
    }
  }

  private mutating func check(
    _ record: TransactionRecord, at offset: UInt64, _ log: inout FindingLog
  ) {
    if let first = unfinished, let last {
      if record.number == first.number {
        return checkPart(record, of: first, behind: last, at: offset, &log)
      }
      log.error(.part, at: offset, "transaction \(first.number) lacks its last part")
      isComplete = false
      unfinished = nil
      expected = first.number.successor
    }
    if record.part > 0 {
      log.error(
        .part, at: offset,
        "part \(record.part) of transaction \(record.number) without those before it")
      isComplete = false
    }
    number(of: record, at: offset, &log)
    order(of: record, at: offset, &log)
    if firstErasure == nil, ErasureCodec.erasure(of: record) != nil { firstErasure = offset }
    if firstDecimalOrDay == nil, record.hasDecimalOrDay { firstDecimalOrDay = offset }
    if firstUndo == nil, !UndoCodec.undo(of: record).isEmpty { firstUndo = offset }
    migrations(of: record, at: offset, &log)
    numbers(of: record, at: offset, &log)
    schema(of: record, at: offset, &log)
    vocabulary.learn(record)
    for change in record.schemaChange { lookup.learn(change) }
    if !record.schemaChange.isEmpty {
      schemaHistory.append(SchemaHistoryEntry(number: record.number, change: record.schemaChange))
    }
    unfinished = record.isContinued ? record : nil
    last = record
  }

  /// Reports a clock that went back, by the transaction's own word or by its timestamp.
  private mutating func order(
    of record: TransactionRecord, at offset: UInt64, _ log: inout FindingLog
  ) {
    // Made only when told: dates as texts are half of the time that all checks take.
    var text: String { "transaction \(record.number) is of \(record.timestamp)" }
    func before(_ last: TransactionRecord) -> String {
      "the one in front of it (\(last.timestamp)"
    }
    if ExtensionArea.has(ExtensionArea.clockJump, in: record.extensions) {
      clockJumps += 1
      log.note(
        .timestamp, at: offset,
        "\(text), and its clock had gone back" + (last.map { " since \(before($0)))" } ?? ""))
    } else if let maximumTimestamp, let last, record.timestamp < last.timestamp {
      log.note(
        .timestamp, at: offset,
        "\(text), before \(before(last)); the greatest is \(maximumTimestamp))")
    }
    maximumTimestamp = max(maximumTimestamp ?? record.timestamp, record.timestamp)
  }

  private mutating func checkPart(
    _ record: TransactionRecord, of first: TransactionRecord, behind last: TransactionRecord,
    at offset: UInt64, _ log: inout FindingLog
  ) {
    if record.part != last.part &+ 1 {
      log.error(
        .part, at: offset,
        "part \(record.part) of transaction \(record.number) behind part \(last.part)")
    }
    if record.timestamp != first.timestamp || record.author != first.author
      || record.context != first.context || record.opening != first.opening
    {
      log.error(
        .part, at: offset,
        "part \(record.part) of transaction \(record.number) has another timestamp, author, "
          + "context or opening than the first")
    }
    if !record.newNames.isEmpty || record.newOpening != nil || !record.schemaChange.isEmpty
      || !record.metadata.isEmpty || !record.extensions.isEmpty || record.lost != nil
    {
      log.error(
        .part, at: offset,
        "part \(record.part) of transaction \(record.number) has what only the first may have")
    }
    self.last = record
    if !record.isContinued { unfinished = nil }
  }

  private mutating func number(
    of record: TransactionRecord, at offset: UInt64, _ log: inout FindingLog
  ) {
    defer { expected = max(expected ?? 1, record.number.successor) }
    if let lost = record.lost {
      let verb = lost.first == lost.last ? "was" : "were"
      log.note(
        .gap, at: offset,
        "\(lost) \(verb) lost (\(lost.reason)); the store was salvaged at \(lost.salvaged)"
          + (lost.isExact ? "; the state after it is exact" : ""))
    }
    let first = record.firstNumber
    guard let expected, first != expected else { return }
    if first < expected {
      log.error(
        .number, at: offset,
        "transaction \(first) where \(expected) should be: a second time")
    } else {
      let missing =
        expected == first - 1
        ? "transaction \(expected) is" : "transactions \(expected) to \(first - 1) are"
      log.error(.number, at: offset, "\(missing) missing before this one")
      isComplete = false
    }
  }
}

// What records refer to.
extension TransactionChecks {
  private var known: KnownNumbers {
    KnownNumbers(names: vocabulary.names.count, openings: vocabulary.openings.count)
  }

  private func numbers(
    of record: TransactionRecord, at offset: UInt64, _ log: inout FindingLog
  ) {
    guard isComplete else { return }
    for fault in known.faults(of: record) {
      log.error(
        fault.isOfNames ? .name : .opening, at: offset,
        "transaction \(record.number) \(fault.text)")
    }
  }

  /// Notes the migrations that a transaction is, and reports one that was made before.
  private mutating func migrations(
    of record: TransactionRecord, at offset: UInt64, _ log: inout FindingLog
  ) {
    for name in MigrationCodec.names(of: record) {
      firstMigration = firstMigration ?? offset
      if let made = migrations.named(name) {
        log.error(
          .record, at: offset,
          "transaction \(record.number) is the migration \"\(name)\", which transaction "
            + "\(made.number) had made")
      } else {
        migrations.append(MigrationRecord(name: name, number: record.number))
      }
    }
  }

  /// Checks that numbers are not reused and definitions do not vanish: what is removed stays,
  /// flagged.
  private func schema(of record: TransactionRecord, at offset: UInt64, _ log: inout FindingLog) {
    guard isComplete else { return }
    for change in record.schemaChange {
      let entity = change.definition
      let known = vocabulary.entity(change.number)
      if let reason = change.misfit(known) {
        log.error(.schema, at: offset, "transaction \(record.number) has \(reason)")
      }
      guard let before = known else { continue }
      if !change.isPartial, change.dropsNumbers(of: before) {
        log.error(
          .schema, at: offset,
          "transaction \(record.number) changes entity \(entity.number) so that properties "
            + "that were given out are gone")
      }
      let gone = change.broughtBack(before)
      if before.isRemoved && !entity.isRemoved || !gone.isEmpty {
        let what = gone.min().map { "property \($0) of entity \(entity.number)" }
        log.error(
          .schema, at: offset,
          "transaction \(record.number) brings back \(what ?? "entity \(entity.number)"), which "
            + "was removed")
      }
    }
  }

  private mutating func changes(
    of record: TransactionRecord, in batch: ChangeBatch, at offset: UInt64,
    _ log: inout FindingLog, refer: (LargeValue, inout FindingLog) -> Void
  ) {
    changeCount += Int64(record.changeCount)
    if let twice = batch.objectChangedTwice(in: record) {
      log.error(
        .record, at: offset,
        "transaction \(record.number) changes "
          + "\(vocabulary.entityText(twice.entity))#\(twice.row) twice")
    }
    batch.arena.withUnsafeBytes { arena in
      for change in batch.changes[record.changeRange] {
        if isComplete, !lookup.has(change.entity) {
          log.error(
            .record, at: offset,
            "transaction \(record.number) changes entity \(change.entity), which the schema "
              + "does not have")
          continue
        }
        for property in batch.properties[change.propertyRange] {
          if isComplete { check(property, of: change, in: record, at: offset, &log) }
          if firstErasure == nil, property.before.tag == .erased || property.after.tag == .erased {
            firstErasure = offset
          }
          if firstDecimalOrDay == nil,
            property.before.tag.isDecimalOrDay || property.after.tag.isDecimalOrDay
          {
            firstDecimalOrDay = offset
          }
          for cell in [property.before, property.after] {
            if cell.isLarge {
              if case .large(let value) = cell.value(in: arena) { refer(value, &log) }
            } else if cell.isMalformedText(in: arena) {
              report(malformed: property, of: change, in: record, at: offset, &log)
              break
            }
          }
        }
      }
    }
  }

  private func report(
    malformed property: PropertyChange, of change: ChangeEntry, in record: TransactionRecord,
    at offset: UInt64, _ log: inout FindingLog
  ) {
    let name = vocabulary.propertyText(property.property, of: change.entity)
    log.warning(
      .record, at: offset,
      "transaction \(record.number) has a text of \(vocabulary.entityText(change.entity))"
        + "#\(change.row).\(name) that is not UTF-8",
      remedy: Remedy.malformedText)
  }

  private func check(
    _ property: PropertyChange, of change: ChangeEntry, in record: TransactionRecord,
    at offset: UInt64, _ log: inout FindingLog
  ) {
    if lookup.admits(property.before.tag, in: property.property, of: change.entity),
      lookup.admits(property.after.tag, in: property.property, of: change.entity),
      lookup.has(property.property, of: change.entity)
    {
      return
    }
    let object = "\(vocabulary.entityText(change.entity))#\(change.row)"
    let name = vocabulary.propertyText(property.property, of: change.entity)
    let what =
      lookup.has(property.property, of: change.entity)
      ? "gives \(name) of \(object) a value of another kind"
      : "changes \(name) of \(object), which the schema does not have"
    log.error(.record, at: offset, "transaction \(record.number) \(what)")
  }
}

extension ValueCell {
  /// Whether this is a text that is not UTF-8, in the record itself.
  fileprivate func isMalformedText(in arena: UnsafeRawBufferPointer) -> Bool {
    tag.isText && !isLarge
      && !HiddenCharacters.isUTF8(UnsafeRawBufferPointer(rebasing: arena[arenaRange]))
  }
}

extension TransactionRecord {
  /// Whether its definitions or its metadata have a decimal or a day.
  fileprivate var hasDecimalOrDay: Bool {
    schemaChange.contains(where: \.hasDecimalOrDay)
      || metadata.contains { $0.value.tag.isDecimalOrDay }
  }
}

extension ChangeBatch {
  /// An object that the record changes more than once; nil if there is none. O(n log n).
  fileprivate func objectChangedTwice(in record: TransactionRecord) -> ObjectReference? {
    guard record.changeCount > 1 else { return nil }
    let objects = changes[record.changeRange]
      .map { ObjectReference(entity: $0.entity, row: $0.row) }
      .sorted { ($0.entity, $0.row) < ($1.entity, $1.row) }
    return zip(objects, objects.dropFirst()).first { $0 == $1 }?.0
  }
}

extension EntityChange {
  /// Whether a whole definition lacks properties of the one before.
  fileprivate func dropsNumbers(of before: Entity) -> Bool {
    let kept = Set(definition.attributes.map(\.number) + definition.relationships.map(\.number))
    let given = Set(before.attributes.map(\.number) + before.relationships.map(\.number))
    return !given.isSubset(of: kept) || definition.nextPropertyNumber < before.nextPropertyNumber
  }

  /// The properties that were removed and that this change brings back.
  fileprivate func broughtBack(_ before: Entity) -> Set<PropertyNumber> {
    if isPartial {
      let live =
        definition.attributes.lazy.filter { !$0.isRemoved }.map(\.number)
        + definition.relationships.lazy.filter { !$0.isRemoved }.map(\.number)
      return Set(live.filter(before.isRemoved))
    }
    return before.removedProperties.subtracting(definition.removedProperties)
  }
}
