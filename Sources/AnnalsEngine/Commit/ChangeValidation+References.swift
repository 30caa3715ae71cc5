import AnnalsModel
import AnnalsState

// Rules of references that a single value does not show: how many there are, and whether objects
// that a transaction leaves alone obey a rule which it declares.

extension ChangeValidation {
  /// Adds a violation if an object that a change inserts, or whose list it changes, is beyond a
  /// limit of the relationship. O(list).
  mutating func checkCount(
    _ relationship: Relationship, _ rules: EntityRules, _ entry: ChangeEntry, in batch: ChangeBatch
  ) throws(AnnalsError) {
    let isTouched = entry.propertyRange.contains {
      batch.properties[$0].property == relationship.number
    }
    guard isTouched || entry.kind == .insert else { return }
    try checkCount(
      relationship, rules, of: ObjectReference(entity: entry.entity, row: entry.row))
  }

  /// Rules do not apply to an erased list. Its references count, whether or not their objects are
  /// there.
  private mutating func checkCount(
    _ relationship: Relationship, _ rules: EntityRules, of object: ObjectReference
  ) throws(AnnalsError) {
    let value = try state.value(of: object, relationship.number)
    let targets = value.targets
    guard !value.isErased, let rule = relationship.countViolation(targets.count) else { return }
    add(rules, object, relationship.number, rule, .objects(targets))
  }

  /// Adds violations for all objects that break a rule of a relationship which an earlier schema
  /// did not have: that there is one, or how many there are; and for those that lack a value of an
  /// attribute which that did not require. O(objects) for each such property.
  mutating func checkNarrowed(
    _ number: EntityNumber, since before: Schema
  ) throws(AnnalsError) {
    guard !allowsMissing, let rules = rules.entity(number), !rules.entity.isRemoved else { return }
    try checkNewlyRequired(rules, since: before)
    let known = before.entity(numbered: number)?.relationships ?? []
    for relationship in rules.entity.relationships {
      let old = known.first { $0.number == relationship.number }
      let isNew = relationship.isRequired && old?.isRequired != true && !isOfMigration
      let isLimited = relationship.hasCountLimit && !relationship.isLooser(than: old)
      guard isNew || isLimited else { continue }
      let reported = Set(
        violations.lazy.filter { $0.property.hasSameBytes(as: relationship.name) }.map(\.object))
      var rows = state.rows(of: number)
      while let row = try AnnalsError.translating({ try rows.next() }) {
        let object = ObjectReference(entity: number, row: row)
        if reported.contains(object) { continue }
        if isLimited {
          try checkCount(relationship, rules, of: object)
        } else if try state.value(of: object, relationship.number).isNull {
          add(rules, object, relationship.number, .required, .null)
        }
      }
    }
  }
}

extension ChangeValidation {
  private mutating func checkNewlyRequired(
    _ rules: EntityRules, since before: Schema
  ) throws(AnnalsError) {
    guard !isOfMigration, let old = before.entity(numbered: rules.entity.number) else { return }
    for attribute in rules.entity.attributes where attribute.mustHaveValue {
      if old.attribute(numbered: attribute.number)?.isOptional == false { continue }
      var rows = state.rows(of: old.number)
      while let row = try AnnalsError.translating({ try rows.next() }) {
        let object = ObjectReference(entity: old.number, row: row)
        if try state.value(of: object, attribute.number).isNull {
          add(rules, object, attribute.number, .required, .null)
        }
      }
    }
  }
}

extension Relationship {
  /// Whether every count within the limits of the other is within these.
  func isLooser(than other: Relationship?) -> Bool {
    guard let other, !other.isRemoved else { return false }
    return (minimumCount ?? 0) <= (other.minimumCount ?? 0)
      && (maximumCount ?? .max) >= (other.maximumCount ?? .max)
  }
}
