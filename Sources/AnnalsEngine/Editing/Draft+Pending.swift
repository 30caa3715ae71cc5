import AnnalsModel
import AnnalsState

// What a draft that is kept open says about itself before it is committed.

extension Draft {
  /// The net changes, as history would have them; without `hasAfter`, with before-images alone.
  /// O(what was touched).
  func netChanges(hasAfter: Bool = true) throws(AnnalsError) -> ChangeBatch {
    try AnnalsError.translating { () throws(StateFault) in
      var batch = ChangeBatch()
      batch.changes.reserveCapacity(touched.list.count)
      var changes = NetChanges(from: base, to: reader.state, hasAfter: hasAfter)
      for object in touched.list { _ = try changes.append(object, to: &batch) }
      return batch
    }
  }

  /// Every rule that the draft breaks, as a commit would find it. O(what was touched).
  func violations(by rules: CommitRules) throws(AnnalsError) -> [ValidationViolation] {
    var draft = self
    draft.adoptRuleEffects()
    _ = try draft.apply(rules.deletes)
    try draft.derive(rules.derivations)
    do throws(StateFault) { try draft.checkUniqueness() } catch { throw AnnalsError(error) }
    var validation = ChangeValidation(draft, by: rules)
    let batch = try draft.netChanges()
    for change in batch.changes { _ = try validation.check(change, in: batch) }
    let known = draft.violations
    return (known + validation.violations.besides(known)).named(in: draft)
  }

  /// Returns what some properties are before they are set, and the values that could not be stored
  /// so far; forgets those of these properties.
  ///
  /// One call that changes the draft in place: each that reads a class's draft would copy it.
  mutating func beginSetting(
    _ properties: [PropertyNumber], of object: ObjectReference
  ) throws(AnnalsError) -> (before: [StoredValue], violations: [ValidationViolation]) {
    var before: [StoredValue] = []
    before.reserveCapacity(properties.count)
    for property in properties {
      before.append(StoredValue(property: property, value: try value(object, property)))
    }
    let known = violations
    if !known.isEmpty { forget(properties, of: object) }
    return (before, known)
  }

  /// Forgets the values that could not be stored in these properties.
  private mutating func forget(_ properties: [PropertyNumber], of object: ObjectReference) {
    let entity = schema.entity(numbered: object.entity)
    let names = properties.compactMap { entity?.propertyName($0) }
    violations.removeAll { violation in
      violation.object == object && names.contains { $0.hasSameBytes(as: violation.property) }
    }
  }
}
