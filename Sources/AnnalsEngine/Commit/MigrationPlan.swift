import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// What the migrations that a store lacks would do.
public struct MigrationPlan: Sendable {
  /// What each would do, in their order, on what those before it leave. Ends with the first that
  /// fails.
  public internal(set) var steps: [Step] = []

  /// Whether no migration is pending, or the store is new, and all count as made.
  public var isEmpty: Bool { steps.isEmpty }

  /// Whether opening the store would make them all.
  public var isPossible: Bool {
    steps.allSatisfy { $0.failure == nil && $0.violations.isEmpty }
  }

  /// What one migration would do.
  public struct Step: Sendable {
    /// The name of the migration.
    public let name: String
    /// The number of objects that would be inserted, updated and deleted, by entity.
    public internal(set) var counts: [Count] = []
    /// The properties that the store would get, as `Person.first`.
    public internal(set) var added: [String] = []
    /// The properties that would be removed.
    public internal(set) var removed: [String] = []
    /// The properties that would have another type.
    public internal(set) var converted: [String] = []
    /// The first changes of objects, as the history would have them.
    public internal(set) var changes: [Change] = []
    /// The rules that it would break, for which it would be refused.
    public internal(set) var violations: [ValidationViolation] = []
    /// What the closure threw, or what else would fail the migration; nil if nothing would.
    public internal(set) var failure: AnnalsError?

    init(_ name: String) { self.name = name }
  }

  /// The objects of one entity that a migration would change.
  public struct Count: Hashable, Sendable {
    /// The name of the entity.
    public let entity: String
    /// How many would be inserted.
    public internal(set) var inserted = 0
    /// How many would be updated.
    public internal(set) var updated = 0
    /// How many would be deleted.
    public internal(set) var deleted = 0
  }
}

extension MigrationPlan: CustomStringConvertible {
  /// A line for each migration, and below it what it would do.
  public var description: String {
    steps.isEmpty
      ? "no migration is pending" : steps.map(\.description).joined(separator: "\n")
  }
}

extension MigrationPlan.Step: CustomStringConvertible {
  /// The name, then a line for each entity, property, violation, and some changes.
  public var description: String {
    var lines = ["migration \"\(name)\""]
    for count in counts {
      lines.append(
        "\(count.entity): \(count.inserted) inserted, \(count.updated) updated, "
          + "\(count.deleted) deleted")
    }
    lines += added.map { "+ \($0)" } + removed.map { "- \($0)" }
    lines += converted.map { "~ \($0), by another type" }
    lines += changes.map(\.description)
    lines += violations.prefix(20).map { "refused: \($0)" }
    if violations.count > 20 { lines.append("refused: \(violations.count - 20) more") }
    if let failure { lines.append("fails: \(failure.message)") }
    return lines.joined(separator: "\n  ")
  }
}

extension StoreVersion {
  /// Runs the migrations that this version lacks on drafts that nobody commits, one on the other.
  /// Costs what they do, in memory.
  package func migrationPlan(
    _ steps: [MigrationStep], to schema: Schema, _ edits: [SchemaEdit]
  ) -> MigrationPlan {
    var plan = MigrationPlan()
    let pending = steps.pending(besides: migrations)
    if state.schema.entities.isEmpty { return plan }
    var run = PlannedMigrations(self)
    for (place, step) in pending.enumerated() {
      let isLast = place == pending.count - 1
      plan.steps.append(run.plan(step) { try $0.make(step, isLast: isLast, schema, edits) })
      guard plan.isPossible else { break }
    }
    return plan
  }
}

/// Migrations that are run one after the other, and not committed.
private struct PlannedMigrations {
  let version: StoreVersion
  let largeValues: HeldLargeValues
  /// The state that the migrations before leave, and the number that the last would have.
  var state: State
  var number: Int64
  var schemas: [SchemaHistoryEntry]
  var made: [MigrationRecord]
  /// The most changes of one migration that are told.
  private static let mostShown = 10

  init(_ version: StoreVersion) {
    self.version = version
    largeValues = HeldLargeValues(stored: LogLargeValues(version.view))
    state = version.state
    number = version.head.number
    schemas = version.view.schemaHistory
    made = version.migrations
  }

  private var records: BoundRecords {
    BoundRecords(
      bindings: RecordBindings(version.records.bindings.functions), schema: state.schema,
      schemaVersion: 0, history: schemas, migrations: made)
  }

  /// Runs a migration, and goes on with the state that it leaves.
  mutating func plan(
    _ step: MigrationStep, _ body: (WriteTransaction) throws -> Void
  ) -> MigrationPlan.Step {
    var result = MigrationPlan.Step(step.name)
    do {
      var origin = TransactionOrigin()
      try origin.note(migrations: [step.name])
      let transaction = WriteTransaction(
        Draft(
          origin, base: state, number: number, working: state,
          store: version.store, records: records, largeValues: largeValues))
      try transaction.run(body)
      var draft = transaction.content
      let rules = CommitRules(draft.schema)
      _ = try draft.apply(rules.deletes)
      try draft.derive(rules.derivations)
      try draft.checkUniqueness()
      number += 1
      made.append(MigrationRecord(name: step.name, number: number))
      let change = draft.schemaChange
      if !change.isEmpty { schemas.append(SchemaHistoryEntry(number: number, change: change)) }
      result.tellSchema(draft.schema, since: state.schema)
      try collect(draft, by: rules, into: &result)
      try draft.mergePendingEntries()
      state = draft.reader.state
    } catch {
      result.failure = AnnalsError.migration(step.name, error)
    }
    return result
  }

  /// Counts the changes of a draft, checks them, and keeps the first.
  private func collect(
    _ draft: Draft, by rules: CommitRules, into result: inout MigrationPlan.Step
  ) throws {
    var validation = ChangeValidation(draft, by: rules)
    var changes = NetChanges(from: draft.base, to: draft.reader.state, isPassing: true)
    var shown = ChangeBatch()
    var batch = ChangeBatch()
    var counts: [EntityNumber: MigrationPlan.Count] = [:]
    try draft.forEachTouched { object in
      batch.removeAll()
      guard try changes.append(object, to: &batch), let entry = batch.changes.first else { return }
      if shown.changes.count < PlannedMigrations.mostShown {
        _ = try changes.append(object, to: &shown)
      }
      let name = draft.schema.entity(numbered: object.entity)?.name ?? "#\(object.entity)"
      var count = counts[object.entity] ?? MigrationPlan.Count(entity: name)
      switch entry.kind {
      case .insert: count.inserted += 1
      case .update: count.updated += 1
      case .delete: count.deleted += 1
      }
      counts[object.entity] = count
      _ = try validation.check(entry, in: batch)
    }
    for entity in draft.changedEntities.sorted() {
      try validation.checkNarrowed(entity, since: draft.base.schema)
    }
    let known = draft.violations
    result.violations = (known + validation.violations.besides(known)).named(in: draft)
    result.counts = counts.sorted { $0.key < $1.key }.map(\.value)
    result.changes = page(of: shown, draft.schema)
  }

  /// The changes of a batch, with names by the schema that the migration leaves.
  private func page(of shown: ChangeBatch, _ schema: Schema) -> [Change] {
    let glossary = version.glossary(
      SchemaVersions(schemas, newest: schema), reading: largeValues, as: records)
    return TransactionPage(
      of: shown, numbered: number, dated: version.head.timestamp, glossary
    ).changes
  }
}

extension Draft {
  /// Calls `body` with each object that may differ from the state before the draft, once.
  fileprivate func forEachTouched(_ body: (ObjectReference) throws -> Void) throws {
    for object in touched.list {
      let isOfWhole = touched.entities.contains(object.entity)
      if isOfWhole, try base.contains(object.entity, object.row) { continue }
      try body(object)
    }
    for entity in touched.entities.sorted() {
      var rows = base.rows(of: entity)
      while let row = try rows.next() { try body(ObjectReference(entity: entity, row: row)) }
    }
  }
}

extension MigrationPlan.Step {
  /// Notes the properties that differ between two schemas. A property that another one of its name
  /// has replaced is converted.
  fileprivate mutating func tellSchema(_ schema: Schema, since before: Schema) {
    for entity in schema.entities {
      let old = before.entity(numbered: entity.number)
      let known = old.map { Set($0.properties.filter { !$0.isRemoved }.map(\.number)) } ?? []
      let new = entity.properties.filter { !entity.isRemoved && !$0.isRemoved }
      let gone = (old?.properties ?? []).filter { property in
        known.contains(property.number) && !new.contains { $0.number == property.number }
      }
      for property in new where !known.contains(property.number) {
        let isReplaced = gone.contains { $0.name.hasSameBytes(as: property.name) }
        let name = "\(entity.name).\(property.name)"
        if isReplaced { converted.append(name) } else { added.append(name) }
      }
      for property in gone where !new.contains(where: { $0.name.hasSameBytes(as: property.name) }) {
        removed.append("\(entity.name).\(property.name)")
      }
    }
  }
}
