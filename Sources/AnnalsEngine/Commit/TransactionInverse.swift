import AnnalsLog
import AnnalsModel
import AnnalsState

/// What undoes one transaction: its changes, read frame by frame, and the states beside it.
package struct TransactionInverse {
  private let version: StoreVersion
  private let number: Int64
  fileprivate let history: History
  /// The states just before the transaction and just after it.
  let before: State
  let after: State
  /// The step of an undo that the transaction is of. Conflicts then name what others changed.
  var step: UndoStep?
  package private(set) var plan: RevertPlan
  /// The most conflicts that are reported.
  private static let limit = 20

  /// Reads the changes of a transaction, and the states beside it; `after` is the later one, if
  /// that is at hand. Throws as
  /// `StoreVersion.transaction(_:)`. O(changes) time, memory for the two states and one frame.
  package init(
    of number: Int64, in version: StoreVersion, after known: State? = nil
  ) throws(AnnalsError) {
    self.version = version
    self.number = number
    history = try version.history(of: number)
    if let known { after = known } else { after = try version.state(at: number) }
    before = try version.state(at: number - 1, undoing: after, asOf: number)
    var found: TransactionHeader?
    try AnnalsError.translating { [history] in try history.forEachHeader { found = $0 } }
    guard let header = found else {
      throw AnnalsError(.damaged, "transaction \(number) cannot be found; verify the store")
    }
    plan = RevertPlan(header)
    try count()
    plan.redefined = redefined(by: header)
  }

  private mutating func count() throws(AnnalsError) {
    var counts: [ChangeKind: Int] = [:]
    var erased: [String] = []
    let history = history
    try history.eachChange { (change) throws(AnnalsError) in
      counts[change.kind, default: 0] += 1
      for name in change.erasedProperties where !erased.contains(name) { erased.append(name) }
    }
    plan.deletions = counts[.insert] ?? 0
    plan.updates = counts[.update] ?? 0
    plan.revivals = counts[.delete] ?? 0
    plan.erased = erased
  }

  /// The entities that the transaction defined, if undoing its other changes would leave half of it
  /// standing: it changed nothing else, or it removed or renamed what they have.
  private func redefined(by header: TransactionHeader) -> [String] {
    let changed = header.schemaChange
    guard !changed.isEmpty else { return [] }
    let isHalf = changed.contains { entity in
      before.schema.entity(numbered: entity.number).map(entity.removesOrRenames) ?? false
    }
    return header.changeCount == 0 || isHalf ? changed.map(\.name) : []
  }

  /// Finds the properties that differ from what the transaction left, and the references to
  /// restore that lead to objects deleted since.
  package mutating func compare(with current: State) throws(AnnalsError) {
    plan.conflicts = []
    let history = history
    try history.eachChange { (change) throws(AnnalsError) in
      guard plan.conflicts.count < TransactionInverse.limit else { return }
      try compare(change, with: current)
    }
  }

  private mutating func compare(
    _ change: Change, with current: State
  ) throws(AnnalsError) {
    let entry = change.entry
    if change.isDerived(in: current.schema) { return }
    let derived = current.schema.entity(numbered: entry.entity)?.derivedAttributes ?? []
    let exists = try AnnalsError.translating { try current.contains(entry.entity, entry.row) }
    if exists == (entry.kind == .delete) || current.schema.hasRemoved(entry.entity) {
      return add(change, property: nil)
    }
    let removed = current.schema.entity(numbered: entry.entity)?.removedProperties ?? []
    let touched = properties(of: change)
    let restorable = touched.filter { !removed.contains($0) && !derived.contains($0) }
    if entry.kind == .update, restorable.isEmpty { add(change, property: touched.first) }
    for property in restorable {
      try AnnalsError.translating {
        if entry.kind != .delete,
          try !current.hasSameValue(entry.entity, entry.row, property, as: after)
        {
          add(change, property: property)
        } else if entry.kind != .insert,
          let target = try firstLost(of: entry, property, in: current)
        {
          add(change, property: property, lost: target)
        }
      }
    }
  }

  /// Adds to the plan what delete rules would do; `draft` is an empty one of the present. Costs
  /// what the revert does if it deletes anything by a schema with rules, else nothing.
  package mutating func countEffects(in draft: consuming Draft) throws(AnnalsError) {
    let rules = DeleteRules(draft.schema)
    guard plan.deletions > 0, plan.refusal() == nil, !rules.isEmpty else { return }
    try draft.undo(self)
    let own = Set(draft.touched.list)
    for object in Set(try draft.apply(rules).map(\.object)) {
      let isGone = try !draft.exists(object)
      if isGone, try !draft.base.holds(object) {
        // It would be revived, and go again.
        plan.revivals -= 1
        continue
      }
      if isGone { plan.deletions += 1 }
      if own.contains(object) != isGone { continue }
      plan.updates += isGone ? -1 : 1
    }
  }

  /// The first object that a property referred to before the transaction and not after it, and that
  /// was deleted since; nil if there is none.
  private func firstLost(
    of entry: ChangeEntry, _ property: PropertyNumber, in current: State
  ) throws(StateFault) -> ObjectReference? {
    let entity = current.schema.entity(numbered: entry.entity)
    guard entity?.relationships.contains(where: { $0.number == property }) == true else {
      return nil
    }
    let (source, object) = (entry.entity, entry.row)
    let kept =
      entry.kind == .delete ? [] : Set(try after.value(source, object, property).targets)
    for target in try before.value(source, object, property).targets
    where !kept.contains(target) {
      let (row, number) = (target.row, target.entity)
      // One that did not exist then is restored as it was; one that the transaction deleted, too.
      guard try before.contains(number, row), try !current.contains(number, row),
        try after.contains(number, row)
      else { continue }
      return target
    }
    return nil
  }

  /// The properties that must still be as the transaction left them: the changed ones; all of an
  /// inserted object.
  private func properties(of change: Change) -> [PropertyNumber] {
    if change.kind == .insert {
      return change.entity.readableProperties.map(\.number)
    }
    return change.entry.propertyRange.map { change.page.batch.properties[$0].property }
  }

  private mutating func add(
    _ change: Change, property: PropertyNumber?, lost target: ObjectReference? = nil
  ) {
    guard let target else {
      plan.conflicts.append(
        PropertyConflict(
          change, property, named: after, with: lastChange(of: change.objectID, property)))
      return
    }
    let id = ObjectID(store: change.objectID.store, entity: target.entity, row: target.row)
    var conflict = PropertyConflict(change, property, named: after, with: nil)
    conflict.changedBy = lastChange(of: id, nil)?.transactionNumber
    conflict.lostReference = before.schema.nameText(of: target, key: before.keyText(of: target))
    plan.conflicts.append(conflict)
  }

  private func lastChange(of object: ObjectID, _ property: PropertyNumber?) -> Change? {
    let others = step.map { !HistoryCondition(.author($0.author)) } ?? .always
    return try? version.lastChange(of: object, after: number, among: others) { change in
      guard let property, change.kind == .update else { return true }
      return change.touches(property)
    }
  }
}

extension Change {
  /// Whether it is an update of derived attributes alone, which follow from other changes.
  fileprivate func isDerived(in schema: Schema) -> Bool {
    guard kind == .update, let derived = schema.entity(numbered: entry.entity)?.derivedAttributes,
      !derived.isEmpty
    else { return false }
    return entry.propertyRange.allSatisfy {
      derived.contains(page.batch.properties[$0].property)
    }
  }

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

extension History {
  /// As `forEachChange`, with what a body of the engine throws.
  fileprivate func eachChange(
    _ body: (Change) throws(AnnalsError) -> Void
  ) throws(AnnalsError) {
    try AnnalsError.translating { try forEachChange(body) }
  }
}

extension Schema {
  fileprivate func hasRemoved(_ entity: EntityNumber) -> Bool {
    self.entity(numbered: entity)?.isRemoved ?? true
  }
}

extension Draft {
  /// Undoes every change of a transaction; requires that there are no conflicts.
  package mutating func undo(_ inverse: TransactionInverse) throws(AnnalsError) {
    try inverse.history.eachChange { (change) throws(AnnalsError) in try undo(change, of: inverse) }
    earlier = inverse.before
  }

  private mutating func undo(
    _ change: Change, of inverse: TransactionInverse
  ) throws(AnnalsError) {
    let entry = change.entry
    // What the schema has removed since stays away, and what is derived follows from the rest.
    if schema.hasRemoved(entry.entity) || change.isDerived(in: schema) { return }
    try AnnalsError.translating {
      switch entry.kind {
      case .insert:
        try reader.state.deleteRow(entry.entity, entry.row)
        deletions.append(ObjectReference(entity: entry.entity, row: entry.row))
      case .delete: try reader.state.insertRow(entry.entity, row: entry.row)
      case .update: break
      }
    }
    touch(entry.entity, entry.row)
    if entry.kind != .insert { try restore(change, of: inverse) }
  }

  /// Gives an object the values that it had before a change of it.
  private mutating func restore(
    _ change: Change, of inverse: TransactionInverse
  ) throws(AnnalsError) {
    let entry = change.entry
    let entity = schema.entity(numbered: entry.entity)
    let removed = entity?.removedProperties ?? []
    let derived = entity?.derivedAttributes ?? []
    for position in entry.propertyRange {
      let property = change.page.batch.properties[position].property
      // What the schema has removed since stays away.
      guard !removed.contains(property), !derived.contains(property) else { continue }
      try AnnalsError.translating {
        let before = try inverse.before.locate(entry.entity, entry.row, property)
        try reader.state.set(entry.entity, entry.row, property, before.cell, in: before.arena)
        before.keepAlive()
      }
    }
  }
}
