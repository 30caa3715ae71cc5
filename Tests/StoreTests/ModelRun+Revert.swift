import Annals
import AnnalsModel
import AnnalsTestSupport

extension ModelRun {
  /// Reverts a random transaction, mostly a late one.
  func revert() throws {
    guard head > base else { return }
    let number =
      random.chance(70)
      ? max(Int(head) - random.number(0...4), base + 1)
      : random.number(base + 1...Int(head))
    steps.append("revert \(number)")
    let base = newest
    let changes = states[number - 1].changes(to: states[number])
    var working = base
    var conflicts = 0
    let wasErasedWhole = try hasErasedWhole(number)
    let isErased =
      erasures.contains(number) || wasErasedWhole
      || changes.contains { hasErased($0.key, $0.value) }
    for (object, change) in changes {
      conflicts += conflictCount(object, change, at: number)
      if change.kind == .delete { working.rows[object] = [:] }
      // What was removed since stays away.
      let removed = working.schema.entity(numbered: object.entity)?.removedProperties ?? []
      for property in change.properties.subtracting(removed) {
        working.rows[object, default: [:]][property] = change.before[property]
      }
      if change.kind == .insert { working.rows[object] = nil }
    }
    for (object, change) in changes where change.kind != .insert {
      conflicts += lostCount(object, change, at: number)
    }
    let plan = try store.revertPlan(number)
    let isRedefined = redefines(number) && (changes.isEmpty || removesOrRenames(number))
    try demand(
      plan.redefined.isEmpty == !isRedefined, "the plan says that \(plan.redefined) were redefined")
    try demand(
      // A change of which both sides were erased is none to the model, and may be in conflict.
      plan.conflicts.isEmpty == (conflicts == 0) || wasErasedWhole && conflicts == 0,
      "reverting \(number) has conflicts \(plan.conflicts), not \(conflicts)")
    try demand(
      plan.deletions == changes.values.count { $0.kind == .insert }
        // Updates of which both sides were erased change nothing.
        && plan.updates >= changes.values.count { $0.kind == .update }
        && plan.revivals == changes.values.count { $0.kind == .delete }, "the plan is \(plan)")
    do {
      let token = try store.revert(number, author: "revert")
      try demand(!isRedefined, "a transaction of the schema was reverted")
      try demand(conflicts == 0, "a conflict was overlooked")
      try demand(!isErased, "a transaction with erased values was reverted")
      try judge(
        .success(token), from: base, to: working, isRecorded: false, restoring: states[number - 1])
    } catch let error as AnnalsError where error.code == .unsupported {
      try demand(isRedefined, "reverting failed: \(error)")
      steps.append("  of the schema")
    } catch let error as AnnalsError where error.code == .erased {
      try demand(isErased, "reverting failed: \(error)")
      steps.append("  erased")
    } catch let error as AnnalsError where error.code == .conflict {
      try demand(conflicts > 0 || wasErasedWhole, "reverting failed: \(error)")
      steps.append("  conflict")
    } catch let error as AnnalsError {
      try judge(
        .failure(error), from: base, to: working, isRecorded: false, restoring: states[number - 1])
    }
  }

  private func redefines(_ number: Int) -> Bool {
    states[number - 1].schema != states[number].schema
  }

  private func removesOrRenames(_ number: Int) -> Bool {
    let after = states[number].schema
    return states[number - 1].schema.entities.contains { entity in
      after.entity(numbered: entity.number)?.removesOrRenames(entity) ?? true
    }
  }

  /// Whether a transaction has a property both of whose values were erased: by the states, it did
  /// not change it.
  private func hasErasedWhole(_ number: Int) throws -> Bool {
    try store.transaction(Int64(number)).changes.contains { change in
      let removed =
        newest.schema.entity(numbered: change.objectID.entity)?.removedProperties ?? []
      return change.properties.contains {
        $0.before.isErased && $0.after.isErased && !removed.contains($0.number)
      }
    }
  }

  /// Whether a value of a change was erased.
  private func hasErased(_ object: ObjectReference, _ change: NaiveChange) -> Bool {
    let entity = newest.schema.entity(numbered: object.entity)
    return change.properties.subtracting(entity?.removedProperties ?? []).contains {
      change.before[$0]?.isErased == true || change.after[$0]?.isErased == true
    }
  }

  /// How many relationships to restore lead to objects deleted since.
  private func lostCount(
    _ object: ObjectReference, _ change: NaiveChange, at number: Int
  ) -> Int {
    let removed = newest.schema.entity(numbered: object.entity)?.removedProperties ?? []
    return change.properties.subtracting(removed).count { property in
      let kept = change.after[property]?.targets ?? []
      return change.before[property]?.targets.contains {
        !kept.contains($0) && states[number - 1].rows[$0] != nil && newest.rows[$0] == nil
          && states[number].rows[$0] != nil
      } ?? false
    }
  }

  private func conflictCount(
    _ object: ObjectReference, _ change: NaiveChange, at number: Int
  ) -> Int {
    let now = newest.rows[object]
    let isHidden = newest.schema.entity(numbered: object.entity)?.isRemoved ?? true
    if isHidden || (now != nil) == (change.kind == .delete) { return 1 }
    guard let now, change.kind != .delete else { return 0 }
    let removed = newest.schema.entity(numbered: object.entity)?.removedProperties ?? []
    var properties = change.properties
    if change.kind == .update, properties.isSubset(of: removed) { return 1 }
    if change.kind == .insert, let entity = states[number].schema.entity(numbered: object.entity) {
      properties = Set(entity.attributes.filter { !$0.isRemoved }.map(\.number))
        .union(entity.relationships.filter { !$0.isRemoved }.map(\.number))
    }
    return properties.subtracting(removed).count { now[$0] != change.after[$0] }
  }
}
