import AnnalsModel
import AnnalsState

/// Edits that are undone and redone together.
///
/// Holds what was before them; applied, it gives the step that leads back.
package struct EditStep: Sendable {
  /// What people call it: `Delete Event`.
  package let name: String
  /// What each object was before, as a change whose before-images count, lists whole: an insert for
  /// one that did not exist, a delete for one that existed with these values, an update for these
  /// values of it. An object may occur twice.
  var before = ChangeBatch()
  /// The values that could not be stored, as they were before.
  var violations: [ValidationViolation] = []
  /// What delete rules did that is not in the draft before the step, or after it.
  var effects: ArraySlice<RuleEffect> = []
  /// Whether a following edit of the same property belongs to it.
  var isOpen = false

  /// The objects of the edits, in their order.
  var objects: [ObjectReference] { before.changes.map(\.object) }

  /// Whether setting these properties goes on with what the step began: it set the same one.
  func isContinued(bySetting properties: [PropertyNumber], of object: ObjectReference) -> Bool {
    isOpen && properties.count == 1 && before.changes.count == 1 && before.properties.count == 1
      && before.changes[0].kind == .update && before.changes[0].object == object
      && before.properties[0].property == properties[0]
  }

  /// Whether it has a large value that lies in the store, which may drop it.
  var hasStoredLargeValue: Bool {
    var result = false
    before.forEachLargeValue { if !HeldLargeValues.holds($0) { result = true } }
    return result
  }
}

extension ChangeEntry {
  /// The object that the change is of.
  var object: ObjectReference { ObjectReference(entity: entity, row: row) }
}

extension ChangeBatch {
  /// The before-images of a change.
  func before(of change: ChangeEntry) -> [StoredValue] {
    arena.withUnsafeBytes { arena in
      properties[change.propertyRange].map {
        StoredValue(property: $0.property, value: $0.before.value(in: arena))
      }
    }
  }

  /// Appends a change with these before-images.
  mutating func append(
    _ kind: ChangeKind, of object: ObjectReference, before: [StoredValue] = []
  ) {
    changes.append(
      ChangeEntry(
        kind: kind, entity: object.entity, row: object.row, firstProperty: properties.count,
        propertyCount: before.count))
    for value in before {
      properties.append(
        PropertyChange(
          property: value.property, before: ValueCell(value.value, appendingTo: &arena),
          after: .null))
    }
  }

  /// Appends all changes of another batch.
  mutating func append(changesOf other: ChangeBatch) {
    if changes.isEmpty { return self = other }
    for change in other.changes { append(change, from: other) }
  }
}

extension Draft {
  /// An empty draft on the pending state of this one: an edit, or a child context.
  func nested() -> Draft {
    var result = Draft(
      origin, base: reader.state, number: number, working: reader.state, store: reader.store,
      records: records, largeValues: largeValues)
    result.opening = opening
    if !violations.isEmpty { result.assigned = [] }
    return result
  }

  /// Adopts the changes of a draft that was based on this one's pending state. O(what it touched).
  mutating func adopt(_ nested: Draft) {
    touch(nested)
    reader.state = nested.reader.state
    deletions += nested.deletions
    ruleEffects += nested.ruleEffects
    if !violations.isEmpty { forget(violationsOf: nested) }
    violations += nested.violations
  }

  /// Notes what a nested draft has touched.
  private mutating func touch(_ nested: Draft) {
    // Nothing is touched yet, so this draft's base is as the nested one's.
    if touched.list.isEmpty { return touched = nested.touched }
    for object in nested.touched.list {
      if object.row >= nested.base.nextRow(of: object.entity) {
        touched.appendNew(object)
      } else {
        touch(object.entity, object.row)
      }
    }
  }

  /// Forgets the values that could not be stored where a nested draft has set another one.
  private mutating func forget(violationsOf nested: Draft) {
    let schema = schema
    violations.removeAll { violation in
      guard let object = violation.object,
        let entity = schema.entity(numbered: object.entity)
      else { return false }
      if nested.touched.list.contains(object), (try? nested.exists(object)) == false { return true }
      guard let property = entity.propertyNumber(named: violation.property) else { return false }
      return nested.assigned?.contains(AssignedProperty(object: object, property: property))
        ?? false
    }
  }

  /// Takes a step back, or forth; returns the step that leads back. What a merge has made of the
  /// objects meanwhile stays where the step does not fit it; references to what others have deleted
  /// are left out where a rule forbids them, unless `mayReturn` says that another step brings it
  /// back. The draft is unspecified if it throws. O(edits).
  mutating func apply(
    _ step: EditStep, _ rules: DeleteRules, mayReturn: (ObjectReference) -> Bool
  ) throws(AnnalsError) -> EditStep {
    var inverse = EditStep(name: step.name, violations: violations)
    for change in step.before.changes.reversed() {
      try restore(change, of: step.before, noting: &inverse.before)
    }
    for object in inverse.objects { try dropLost(object, rules, mayReturn) }
    violations = step.violations
    return inverse
  }

  /// Makes an object what it was, and notes what it was until now. Does nothing where that does not
  /// fit.
  private mutating func restore(
    _ change: ChangeEntry, of before: ChangeBatch, noting inverse: inout ChangeBatch
  ) throws(AnnalsError) {
    let object = change.object
    guard try exists(object) == (change.kind != .delete) else { return }
    switch change.kind {
    case .insert:
      inverse.append(.delete, of: object, before: try values(of: object))
      try delete(object)
    case .delete:
      try revive(object, with: before.before(of: change))
      inverse.append(.insert, of: object)
    case .update:
      var current = before.before(of: change)
      for index in current.indices {
        let (property, value) = (current[index].property, current[index].value)
        current[index].value = try self.value(object, property)
        // As a list is stored: a merge may have given its objects other ids.
        try store(value, in: property, row: object.row, of: object.entity)
      }
      touch(object.entity, object.row)
      inverse.append(.update, of: object, before: current)
    }
  }

  /// Takes references to objects that are gone for good out of an object.
  private mutating func dropLost(
    _ object: ObjectReference, _ rules: DeleteRules, _ mayReturn: (ObjectReference) -> Bool
  ) throws(AnnalsError) {
    guard try exists(object) else { return }
    for relationship in rules.relationships(of: object.entity) {
      for target in try value(object, relationship.number).targets {
        let isThere = try exists(target)
        if isThere || mayReturn(target) { continue }
        try dropDangling(relationship.number, of: object)
        break
      }
    }
  }
}
