import AnnalsModel
import AnnalsState

/// What an edit found before it, of one object: enough to take it back.
struct ObjectEdit: Sendable {
  enum Before: Sendable {
    /// It did not exist.
    case nothing
    /// It existed with these values, and was deleted.
    case object([StoredValue])
    /// These properties had these values.
    case values([StoredValue])
  }

  let object: ObjectReference
  var before: Before
}

/// Edits that are undone and redone together.
///
/// Holds what was before them; applied, it gives the step that leads back.
package struct EditStep: Sendable {
  /// What people call it: `Delete Event`.
  package let name: String
  var edits: [ObjectEdit]
  /// The values that could not be stored, as they were before.
  var violations: [ValidationViolation] = []
  /// What delete rules did that is not in the draft before the step, or after it.
  var effects: ArraySlice<RuleEffect> = []
  /// Whether a following edit of the same property belongs to it.
  var isOpen = false

  /// The objects of the edits, in their order; one may occur twice.
  var objects: [ObjectReference] { edits.map(\.object) }

  /// The only property that the step sets; nil if it does anything else.
  var onlyProperty: AssignedProperty? {
    guard edits.count == 1, case .values(let values) = edits[0].before, values.count == 1 else {
      return nil
    }
    return AssignedProperty(object: edits[0].object, property: values[0].property)
  }

  /// Whether the step goes on with what this one began: the same property is set again.
  func isContinued(by next: EditStep) -> Bool {
    isOpen && next.isOpen && onlyProperty != nil && onlyProperty == next.onlyProperty
  }

  /// Whether it has a large value that lies in the store, which may drop it.
  var hasStoredLargeValue: Bool {
    edits.contains { edit in
      switch edit.before {
      case .nothing: false
      case .object(let values), .values(let values):
        values.contains {
          guard case .large(let large) = $0.value else { return false }
          return !HeldLargeValues.holds(large)
        }
      }
    }
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

  /// What each object was before this draft. O(what it touched).
  func edits() throws(AnnalsError) -> [ObjectEdit] {
    var result: [ObjectEdit] = []
    result.reserveCapacity(touched.list.count)
    try AnnalsError.translating {
      var changes = NetChanges(from: base, to: reader.state)
      var batch = ChangeBatch()
      for object in touched.list {
        if object.row >= base.nextRow(of: object.entity) {
          guard try reader.state.contains(object.entity, object.row) else { continue }
          result.append(ObjectEdit(object: object, before: .nothing))
        } else if try changes.append(object, to: &batch) {
          result.append(ObjectEdit(object: object, before: try before(batch.changes[0], batch)))
          batch.removeAll()
        }
      }
    }
    return result
  }

  /// What the object of a net change was before.
  private func before(
    _ change: ChangeEntry, _ batch: ChangeBatch
  ) throws(StateFault) -> ObjectEdit.Before {
    if change.kind == .insert { return .nothing }
    var values: [StoredValue] = []
    values.reserveCapacity(Int(change.propertyCount))
    for property in batch.properties[change.propertyRange] {
      let value =
        property.isEdits
        ? try base.value(change.entity, change.row, property.property)
        : batch.arena.withUnsafeBytes { property.before.value(in: $0) }
      values.append(StoredValue(property: property.property, value: value))
    }
    return change.kind == .delete ? .object(values) : .values(values)
  }

  /// Takes a step back, or forth; returns the step that leads back. What a merge has made of the
  /// objects meanwhile stays where the step does not fit it; references to what others have deleted
  /// are left out where a rule forbids them, unless `mayReturn` says that another step brings it
  /// back. The draft is unspecified if it throws. O(edits).
  mutating func apply(
    _ step: EditStep, _ rules: DeleteRules, mayReturn: (ObjectReference) -> Bool
  ) throws(AnnalsError) -> EditStep {
    var inverse = EditStep(name: step.name, edits: [], violations: violations)
    for edit in step.edits.reversed() {
      guard let before = try restore(edit) else { continue }
      inverse.edits.append(ObjectEdit(object: edit.object, before: before))
    }
    for edit in inverse.edits { try dropLost(edit.object, rules, mayReturn) }
    violations = step.violations
    return inverse
  }

  /// Makes an object what it was; returns what it was until now, or nil if nothing was done.
  private mutating func restore(_ edit: ObjectEdit) throws(AnnalsError) -> ObjectEdit.Before? {
    let object = edit.object
    let isThere = try exists(object)
    switch edit.before {
    case .nothing:
      guard isThere else { return nil }
      let values = try values(of: object)
      try delete(object)
      return .object(values)
    case .object(let values):
      guard !isThere else { return nil }
      try revive(object, with: values)
      return .nothing
    case .values(let values):
      guard isThere else { return nil }
      var current: [StoredValue] = []
      for value in values {
        current.append(
          StoredValue(property: value.property, value: try self.value(object, value.property)))
        // As a list is stored: a merge may have given its objects other ids.
        try store(value.value, in: value.property, row: object.row, of: object.entity)
      }
      touch(object.entity, object.row)
      return .values(current)
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
