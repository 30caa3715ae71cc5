import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Something that a verification found.
public struct StoreFinding: Sendable, Hashable {
  /// How bad it is.
  public enum Severity: Sendable, Hashable {
    /// What is read may be wrong, or cannot be read.
    case error
    /// What is derived or unused is damaged, or a crash left something; all that was acknowledged
    /// can be read.
    case warning
    /// Worth knowing; nothing is wrong.
    case note
  }

  /// How bad it is.
  public let severity: Severity
  /// What was found and what to do about it.
  public let message: String
}

extension Store {
  /// Replays the whole history from the base and compares what comes out with what the store holds:
  /// the newest checkpoint and its tables, the state in memory, and the indexes; and what each
  /// change says was before it with what was.
  ///
  /// The logical half of `verify`. Costs what the whole history costs, and the memory of two
  /// states. Throws if the store cannot be read.
  package func verifyHistory() throws(AnnalsError) -> [StoreFinding] {
    let version = version
    var findings: [StoreFinding] = []
    try AnnalsError.narrowing {
      let view = version.view
      let base = try view.baseDirectory()
      let checkpoint = try view.checkpoint(atOrBefore: view.head.number)
      var checks = HistoryChecks(tables: try TableChecks(view))
      var replay = try version.stateByReplaying(from: base, to: view.base)
      replay = try version.state(
        continuing: replay, after: view.base, to: checkpoint?.number ?? view.base, &checks)
      if let checkpoint, !checkpoint.isBase {
        findings += try Store.comparison(
          of: "the checkpoint at transaction \(checkpoint.number)",
          try State(directory: checkpoint, source: LogChunkSource(view.file)), with: replay,
          givenRows: checks.tables.givenRows)
      }
      replay = try version.state(
        continuing: replay, after: checkpoint?.number ?? view.base, to: view.head.number, &checks)
      findings += try Store.comparison(
        of: "the newest state", version.state, with: replay, givenRows: checks.tables.givenRows)
      checks.tables.finish()
      for violation in try replay.invariantViolations() {
        findings.append(StoreFinding(severity: .error, message: violation))
      }
      findings += try Store.collisions(in: replay)
      findings += checks.before.findings + checks.tables.findings
      let dangling = try replay.danglingReferences()
      if dangling > 0 {
        findings.append(
          StoreFinding(
            severity: .note,
            message: "\(dangling) relationships name objects that were deleted; they read as none"))
      }
    }
    return findings
  }

  /// The objects that have what a unique rule gives to another.
  private static func collisions(in replay: State) throws -> [StoreFinding] {
    var state = replay
    return try state.checkUniqueness().compactMap { violation in
      guard let entity = replay.schema.entity(numbered: violation.entity), !entity.isRemoved,
        let other = violation.otherRow
      else { return nil }
      let rule =
        (entity.attributes.map { ($0.number, $0.name) }
        + entity.indexes.map { ($0.number, $0.name) })
        .first { $0.0 == violation.rule }?.1 ?? "\(violation.rule)"
      return StoreFinding(
        severity: .error,
        message: "\(entity.name)#\(violation.row) and #\(other) have the same \(rule), which is "
          + "unique. Change one of them")
    }
  }

  /// What is wrong with a state that was read, next to the one that the history leads to.
  private static func comparison(
    of what: String, _ state: @autoclosure () throws -> State, with replay: State,
    givenRows: [EntityNumber: Int64]
  ) throws -> [StoreFinding] {
    do {
      let state = try state()
      let difference: String? =
        if let difference = try State.firstDifference(state, replay) {
          "differs from the history: \(difference)"
        } else if let entity = state.entityGivingAgain(givenRows) {
          "would give rows of entity \(entity) a second time"
        } else if let violation = try state.indexViolations().first {
          "has a wrong index: \(violation)"
        } else {
          nil
        }
      // A checkpoint made of this state would say the same: it must be left out.
      return [difference].compactMap(\.self).map {
        StoreFinding(
          severity: .error,
          message: "\(what) \($0). annals compact --smallest drops it; opening then goes by the "
            + "history")
      }
    } catch {
      let error = AnnalsError.wrapping(error)
      guard error.code == .damaged else { throw error }
      let place = error.offset.map { ": the part at \($0) is damaged" } ?? ""
      return [
        StoreFinding(
          severity: .error,
          message: "\(what) cannot be read\(place). annals compact makes it anew from the history")
      ]
    }
  }
}

extension StoreVersion {
  /// The state after the transactions that follow those in `state`.
  fileprivate func state(
    continuing state: State, after: Int64, to number: Int64, _ checks: inout HistoryChecks
  ) throws -> State {
    var replay = StateReplay(state: state)
    var cursor = try view.history(after: after, through: number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      do {
        try replay.apply(&batch) { (state, record, batch) throws(StateFault) in
          try checks.before.compare(record, in: batch, with: state)
          checks.tables.compare(record, in: batch)
        }
      } catch {
        throw view.locating(error)
      }
    }
    return try replay.finish()
  }
}

extension State {
  /// The first entity that would give a new object one of these greatest rows, or one before it;
  /// nil if there is none.
  fileprivate func entityGivingAgain(_ rows: [EntityNumber: Int64]) -> EntityNumber? {
    rows.filter { nextRow(of: $0.key) <= $0.value }.keys.min()
  }
}

/// What is looked at while the history is gone through.
private struct HistoryChecks {
  var before = BeforeChecks()
  var tables: TableChecks
}

/// Compares what changes say was before them with what was.
private struct BeforeChecks {
  /// The first difference.
  private(set) var findings: [StoreFinding] = []

  /// Looks at the changes of a transaction, or of a part of one, that `state` is about to take.
  mutating func compare(
    _ record: TransactionRecord, in batch: ChangeBatch, with state: State
  ) throws(StateFault) {
    guard findings.isEmpty else { return }
    for change in batch.changes[record.changeRange] where change.kind != .insert {
      guard let entity = state.schema.entity(numbered: change.entity) else { continue }
      var rest: Set<PropertyNumber> = []
      if change.kind == .delete {
        rest = Set(entity.attributes.map(\.number) + entity.relationships.map(\.number))
      }
      for property in batch.properties[change.propertyRange] where !property.isEdits {
        rest.remove(property.property)
        let was = try state.value(change.entity, change.row, property.property)
        let said = batch.arena.withUnsafeBytes { property.before.value(in: $0) }
        if was == said || was.isNull && isRemoved(property.property, of: entity) { continue }
        return tell(property.property, of: change, in: record, entity)
      }
      for property in rest.sorted() {
        guard try !state.value(change.entity, change.row, property).isNull else { continue }
        return tell(property, of: change, in: record, entity)
      }
    }
  }

  /// A base holds nothing of what was removed there, which deletes behind it may list.
  private func isRemoved(_ property: PropertyNumber, of entity: Entity) -> Bool {
    entity.attributes.contains { $0.number == property && $0.isRemoved }
      || entity.relationships.contains { $0.number == property && $0.isRemoved }
  }

  private mutating func tell(
    _ property: PropertyNumber, of change: ChangeEntry, in record: TransactionRecord,
    _ entity: Entity
  ) {
    let name =
      entity.attributes.first { $0.number == property }?.name
      ?? entity.relationships.first { $0.number == property }?.name ?? "\(property)"
    findings.append(
      StoreFinding(
        severity: .error,
        message: "transaction \(record.number) says that \(name) of \(entity.name)#\(change.row) "
          + "was otherwise before it than it was. States of the past may be read wrongly; the "
          + "newest one is right"))
  }
}

extension State {
  /// How many references name objects that do not exist. O(size of the relationships).
  fileprivate func danglingReferences() throws(StateFault) -> Int {
    var count = 0
    for entity in schema.entities where !entity.isRemoved {
      let columns = entity.relationships.filter { !$0.isRemoved }.map(\.number)
      guard !columns.isEmpty else { continue }
      var rows = rows(of: entity.number)
      while let row = try rows.next() {
        for property in columns {
          switch try value(entity.number, row, property) {
          case .object(let target):
            if try !contains(target.entity, target.row) { count += 1 }
          case .objects(let list):
            for target in list where try !contains(target.entity, target.row) { count += 1 }
          default: break
          }
        }
      }
    }
    return count
  }
}
