import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState

/// What reverting a transaction would do.
public struct RevertPlan: Sendable {
  /// The transaction to revert.
  public let transaction: TransactionHeader
  /// How many objects would be deleted.
  public let deletions: Int
  /// How many objects would be updated.
  public let updates: Int
  /// How many objects would be revived.
  public let revivals: Int
  /// What later transactions changed, so that the revert is refused; empty if it is possible.
  public let conflicts: [PropertyConflict]

  /// The properties whose values before or after the transaction were erased since, so that it is
  /// unknown what to restore, or whether they are still as it left them; by name, without
  /// duplicates.
  public internal(set) var erased: [String] = []

  /// Why the transaction cannot be reverted; nil if it can.
  package var refusal: AnnalsError? {
    if !erased.isEmpty {
      return AnnalsError(
        .erased,
        "transaction \(transaction.number) cannot be reverted, values of it were erased: "
          + erased.joined(separator: ", "))
    }
    guard !conflicts.isEmpty else { return nil }
    return .conflict(
      "transaction \(transaction.number) cannot be reverted, later transactions touched what it "
        + "did", conflicts)
  }
}

extension Store {
  /// What `revert` would do now, without doing it.
  public func revertPlan(_ position: any HistoryPosition) throws(AnnalsError) -> RevertPlan {
    let version = version
    let number = try version.number(at: position.historyPlace)
    var inverse = try TransactionInverse(of: number, in: version)
    try inverse.compare(with: version.state)
    return inverse.plan
  }

  /// Commits a transaction that undoes the one at `position`: deletes inserted objects, revives
  /// deleted ones under their own ids, and restores the before-images of changed properties. Schema
  /// changes stay, and so do the values of properties that they removed.
  ///
  /// - Returns: the position after the new transaction.
  /// - Throws: `.conflict` with the properties that later transactions changed, `.erased` if a
  ///   before-image was erased, `.pruned`, `.beyondHead`, and as `write` does; then nothing is
  ///   recorded.
  @discardableResult
  public func revert(
    _ position: any HistoryPosition, author: String? = nil, context: String? = nil,
    metadata: [String: Value] = [:]
  ) throws -> Token {
    try writer.write { writer in
      // Only now has the store caught up with other processes.
      let number = try writer.newest.number(at: position.historyPlace)
      var metadata = metadata
      if metadata["reverts"] == nil { metadata["reverts"] = .int(number) }
      let origin = TransactionOrigin(author: author, context: context, metadata: metadata)
      return try writer.appendTransaction(origin) { transaction in
        var inverse = try TransactionInverse(of: number, in: writer.newest)
        try inverse.compare(with: transaction.base)
        if let refusal = inverse.plan.refusal { throw refusal }
        try inverse.apply(to: transaction)
      }
    }
  }
}

/// The inverse of one transaction: its changes, and the state before and after it.
private struct TransactionInverse {
  private let version: StoreVersion
  private let header: TransactionHeader
  private let transaction: Transaction
  private let before: State
  private let after: State
  private(set) var conflicts: [PropertyConflict] = []
  /// The most conflicts that are reported.
  private static let limit = 20

  init(of number: Int64, in version: StoreVersion) throws(AnnalsError) {
    self.version = version
    transaction = try version.transaction(number)
    header = TransactionHeader(
      part: transaction, changeCount: transaction.changes.count, isSelected: true)
    after = try version.state(at: number)
    before = try version.state(at: number - 1)
  }

  var plan: RevertPlan {
    var counts: [ChangeKind: Int] = [:]
    for change in transaction.changes { counts[change.kind, default: 0] += 1 }
    var plan = RevertPlan(
      transaction: header, deletions: counts[.insert] ?? 0, updates: counts[.update] ?? 0,
      revivals: counts[.delete] ?? 0, conflicts: conflicts)
    for change in transaction.changes {
      for name in change.erasedProperties where !plan.erased.contains(name) {
        plan.erased.append(name)
      }
    }
    return plan
  }

  /// Finds the properties that differ from what the transaction left.
  mutating func compare(with current: State) throws(AnnalsError) {
    conflicts = []
    for change in transaction.changes {
      guard conflicts.count < TransactionInverse.limit else { return }
      let entry = change.entry
      let exists = try AnnalsError.translating { () throws(StateFault) in
        try current.contains(entry.entity, entry.row)
      }
      if exists == (entry.kind == .delete) || current.schema.isHidden(entry.entity) {
        add(change, property: nil)
        continue
      }
      guard entry.kind != .delete else { continue }
      let removed = current.schema.entity(numbered: entry.entity)?.removedProperties ?? []
      for property in try properties(of: change) where !removed.contains(property) {
        let isSame = try AnnalsError.translating { () throws(StateFault) in
          try current.hasSameValue(entry.entity, entry.row, property, as: after)
        }
        if !isSame { add(change, property: property) }
      }
    }
  }

  /// Undoes every change; requires that there are no conflicts.
  func apply(to write: WriteTransaction) throws(AnnalsError) {
    for change in transaction.changes {
      let entry = change.entry
      try AnnalsError.translating { () throws(StateFault) in
        switch entry.kind {
        case .insert: try write.reader.state.deleteRow(entry.entity, entry.row)
        case .delete: try write.reader.state.insertRow(entry.entity, row: entry.row)
        case .update: break
        }
      }
      write.touch(entry.entity, entry.row)
      guard entry.kind != .insert else { continue }
      let removed =
        write.schema.entity(numbered: entry.entity)?.removedProperties ?? []
      for position in entry.propertyRange {
        let property = change.page.batch.properties[position].property
        // Values that the schema has removed meanwhile stay as they are, where nobody sees them.
        guard !removed.contains(property) else { continue }
        try AnnalsError.translating { () throws(StateFault) in
          try before.withCell(entry.entity, entry.row, property) { cell, arena throws(StateFault) in
            try write.reader.state.set(entry.entity, entry.row, property, cell, in: arena)
          }
        }
      }
    }
  }

  /// The properties that must still be as the transaction left them: the changed ones; all of an
  /// inserted object.
  private func properties(of change: Change) throws(AnnalsError) -> [PropertyNumber] {
    if change.kind == .insert {
      return change.entity.readableProperties.map(\.number)
    }
    return change.entry.propertyRange.map { change.page.batch.properties[$0].property }
  }

  private mutating func add(_ change: Change, property: PropertyNumber?) {
    conflicts.append(
      PropertyConflict(
        change, property, named: after, with: lastChange(of: change.objectID, property)))
  }

  private func lastChange(of object: ObjectID, _ property: PropertyNumber?) -> Change? {
    let later = History(
      version: version, after: transaction.number, through: version.view.head.number,
      condition: .touches(object)
    ).reversed()
    guard var cursor = try? later.makeCursor() else { return nil }
    while let found = try? cursor.next() {
      for change in found.changes where change.objectID == object {
        guard let property, change.kind == .update else { return change }
        if change.touches(property) { return change }
      }
    }
    return nil
  }
}

extension Change {
  /// The properties of which a value in the change was erased.
  fileprivate var erasedProperties: [String] {
    let removed = entity.removedProperties
    return entry.propertyRange.compactMap { place in
      let property = page.batch.properties[place]
      guard property.before.tag == .erased || property.after.tag == .erased,
        !removed.contains(property.property)
      else { return nil }
      return "\(entity.name).\(entity.propertyName(property.property) ?? "#\(property.property)")"
    }
  }
}

extension Schema {
  fileprivate func isHidden(_ entity: EntityNumber) -> Bool {
    self.entity(numbered: entity)?.isRemoved ?? true
  }
}
