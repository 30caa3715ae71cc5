import AnnalsModel
import AnnalsState

/// What a delete rule did to an object in a draft that is kept outside of a write.
///
/// There the rules are followed as soon as something is deleted, so that what is read shows it.
/// When the draft is merged they are followed anew, in the newest state: so each effect can be
/// taken back.
package struct RuleEffect: Sendable {
  let effect: DeletionEffect
  /// The values that the deleted object had, or of the cleared reference.
  let before: [StoredValue]
  /// What the rule left of the reference; null for a deleted object.
  let after: Value
}

/// The value of a property, as it is stored.
package struct StoredValue: Sendable {
  let property: PropertyNumber
  var value: Value
}

extension Draft {
  /// The values of an object that are not null.
  func values(of object: ObjectReference) throws(AnnalsError) -> [StoredValue] {
    try Draft.values(of: object, in: reader.state)
  }

  /// The values of an object in a state that are not null.
  static func values(
    of object: ObjectReference, in state: State
  ) throws(AnnalsError) -> [StoredValue] {
    var result: [StoredValue] = []
    for property in state.schema.entity(numbered: object.entity)?.readableProperties ?? [] {
      let value = try state.value(of: object, property.number)
      if !value.isNull { result.append(StoredValue(property: property.number, value: value)) }
    }
    return result
  }

  /// Inserts an object that is gone under its own id, with these values.
  mutating func revive(
    _ object: ObjectReference, with values: [StoredValue]
  ) throws(AnnalsError) {
    try AnnalsError.translating { try reader.state.insertRow(object.entity, row: object.row) }
    if object.row < base.nextRow(of: object.entity) {
      touch(object.entity, object.row)
    } else {
      touched.insertNew(object)
    }
    for value in values {
      try store(value.value, in: value.property, row: object.row, of: object.entity)
    }
  }

  /// Follows the rules for what the draft deletes, and keeps what they did; denies nothing, which
  /// is decided when the draft is committed. O(effects log objects).
  mutating func follow(_ rules: DeleteRules) throws(AnnalsError) {
    if deletions.isEmpty || rules.isEmpty { return }
    let before = reader.state
    let effects = try apply(rules, denies: false)
    try keep(effects, from: before)
  }

  /// Keeps what rules did, with the values in the state before them.
  mutating func keep(_ effects: [DeletionEffect], from before: State) throws(AnnalsError) {
    for effect in effects {
      let object = effect.object
      guard let property = effect.cleared else {
        let values = try Draft.values(of: object, in: before)
        ruleEffects.append(RuleEffect(effect: effect, before: values, after: .null))
        continue
      }
      let old = try before.value(of: object, property)
      // A second effect on one reference finds it cleared already.
      let after = try exists(object) ? value(object, property) : .null
      ruleEffects.append(
        RuleEffect(
          effect: effect, before: [StoredValue(property: property, value: old)], after: after))
    }
  }

  /// The draft as if no rule had been followed yet, to be merged: there they are followed anew. A
  /// reference that was set again since stays so, as does what followed from deleting an object
  /// that the draft itself had made, of which nobody else knows.
  func withoutRuleEffects() throws(AnnalsError) -> Draft {
    var result = self
    result.ruleEffects = []
    var restored: [(object: ObjectReference, property: PropertyNumber)] = []
    for effect in ruleEffects.reversed() {
      let object = effect.effect.object
      if try isGone(effect.effect.cause) {
        if effect.effect.cleared == nil { result.deletions.append(object) }
      } else if let property = effect.effect.cleared {
        guard try result.exists(object), let before = effect.before.first,
          try result.value(object, property) == effect.after
        else { continue }
        try result.put(before.value, in: property, row: object.row, of: object.entity)
        restored.append((object, property))
      } else if try !result.exists(object) {
        try result.revive(object, with: effect.before)
        restored += effect.before.map { (object, $0.property) }
      }
    }
    for (object, property) in restored { try result.dropGone(property, of: object) }
    return result
  }

  /// Whether the draft has made an object, and deleted it again.
  private func isGone(_ object: ObjectReference) throws(AnnalsError) -> Bool {
    guard object.row >= base.nextRow(of: object.entity) else { return false }
    return try !exists(object)
  }

  /// Takes the references to such objects out of a property.
  private mutating func dropGone(
    _ property: PropertyNumber, of object: ObjectReference
  ) throws(AnnalsError) {
    let targets = try value(object, property).targets
    var left: [ObjectReference] = []
    for target in targets {
      if try !isGone(target) { left.append(target) }
    }
    if left.count == targets.count { return }
    try set(object, property, to: left.isEmpty ? .null : .objects(left))
  }

  /// Makes what rules have deleted deletions of the draft itself, so that the commit looks at what
  /// denies them, and records them children first.
  mutating func adoptRuleEffects() {
    if ruleEffects.isEmpty { return }
    let objects = ruleEffects.map(\.effect.object)
    touched.move(objects, before: deletions)
    for effect in ruleEffects where effect.effect.cleared == nil {
      deletions.append(effect.effect.object)
    }
    ruleEffects = []
  }
}
