// How one attribute, relationship or index of a program's schema joins the store's entity.

extension SchemaMerge {
  mutating func add(_ required: Attribute, to index: Int, objectCount: Int) {
    let entity = schema.entities[index]
    if entity.relationship(named: required.name) != nil {
      return report(
        .incompatibleType, entity.name, required.name, "the store has a relationship of this name")
    }
    guard
      let position = entity.attributes.firstIndex(where: {
        !$0.isRemoved && $0.name.hasSameBytes(as: required.name)
      })
    else {
      return insert(required, into: index, objectCount: objectCount)
    }
    var merged = entity.attributes[position]
    guard merged.type.widens(to: required.type) || required.type.widens(to: merged.type) else {
      let reason = "the store has it as \(merged.type), which cannot become \(required.type)"
      return report(.incompatibleType, entity.name, required.name, reason)
    }
    if required.isOptional, !merged.isOptional, objectCount > 0 {
      noteBackfill(of: merged, in: entity.number)
    }
    guard merged.grow(toHold: required) else { return }
    // Each schema is sound, but the rules of both together may not be.
    let faults = merged.conflicts(of: entity.name)
    guard faults.isEmpty else { return conflicts += faults }
    schema.entities[index].attributes[position] = merged
    markChanged(index)
  }

  private mutating func insert(_ required: Attribute, into index: Int, objectCount: Int) {
    let entity = schema.entities[index]
    var added = required
    if added.defaultValue?.isNull == true { added.defaultValue = nil }
    if !added.isOptional, added.defaultValue == nil, objectCount > 0 {
      let reason =
        "a required attribute can be added where there are objects only with a default"
      return report(.missingDefault, entity.name, added.name, reason)
    }
    if added.isUnique, !added.isOptional, objectCount > 1 {
      let reason = "\(objectCount) objects would all have the default; make it optional"
      return report(.notUnique, entity.name, added.name, reason)
    }
    guard let number = takeNumber(of: index, for: added.name) else { return }
    added.number = number
    schema.entities[index].attributes.append(added)
  }

  mutating func add(_ required: Relationship, leadingTo destination: String, to index: Int) {
    let entity = schema.entities[index]
    func refuse(_ reason: String) {
      report(.incompatibleRelationship, entity.name, required.name, reason)
    }
    if entity.attribute(named: required.name) != nil {
      return refuse("the store has an attribute of this name")
    }
    // `conflicts(besides:)` has seen to it that the destination exists.
    guard let target = liveIndex(ofEntity: destination) else { return }
    let number = schema.entities[target].number
    if let stored = entity.relationship(named: required.name) {
      if stored.destination != number {
        let name = schema.entity(numbered: stored.destination)?.name ?? ""
        refuse("the store has it lead to \(name), not to \(destination)")
      }
      if stored.isToMany != required.isToMany {
        refuse("the store has it to-\(stored.isToMany ? "many" : "one")")
      } else if required.isOrdered, !stored.isOrdered {
        refuse("the store has it unordered")
      }
      return
    }
    guard let propertyNumber = takeNumber(of: index, for: required.name) else { return }
    var added = required
    added.number = propertyNumber
    added.destination = number
    added.destinationName = ""
    schema.entities[index].relationships.append(added)
  }

  mutating func add(_ required: IndexDescription, of program: Entity, to index: Int) {
    let entity = schema.entities[index]
    var added = required
    for position in added.elements.indices {
      let name = program.propertyName(of: added.elements[position])
      // A property that could not be added has its own conflict.
      guard let number = entity.propertyNumber(named: name) else { return }
      added.elements[position].property = number
      added.elements[position].propertyName = ""
    }
    if let position = entity.indexes.firstIndex(where: { $0.name.hasSameBytes(as: required.name) })
    {
      if !entity.indexes[position].isKnown {
        let reason = "the store has an index of this name that only a newer version knows"
        report(.incompatibleIndex, entity.name, required.name, reason)
      } else if entity.indexes[position].elements != added.elements {
        let reason = "the store has an index of this name over other properties or in another order"
        report(.incompatibleIndex, entity.name, required.name, reason)
      } else if required.isUnique, !entity.indexes[position].isUnique {
        schema.entities[index].indexes[position].isUnique = true
        markChanged(index)
      }
      return
    }
    guard let number = takeNumber(of: index, for: added.name) else { return }
    added.number = number
    schema.entities[index].indexes.append(added)
  }
}

extension Attribute {
  /// Widens this so that it holds what `required` holds too; whether anything changed.
  fileprivate mutating func grow(toHold required: Attribute) -> Bool {
    var didGrow = false
    func set<T: Equatable>(_ value: inout T, to newValue: T) {
      guard value != newValue else { return }
      value = newValue
      didGrow = true
    }
    if type.widens(to: required.type) { set(&type, to: required.type) }
    if required.isOptional { set(&isOptional, to: true) }
    if required.isUnique { set(&isUnique, to: true) }
    if required.isPreservedAfterDeletion { set(&isPreservedAfterDeletion, to: true) }
    if defaultValue == nil, let value = required.defaultValue, !value.isNull {
      set(&defaultValue, to: value)
    }
    set(&validation, to: validation.grown(toHold: required.validation, as: type))
    return didGrow
  }
}

extension Validation {
  /// The rules of both where only one has them, and the looser ones where both do.
  fileprivate func grown(toHold other: Validation, as type: AttributeType) -> Validation {
    var result = self
    for value in other.oneOf where !result.oneOf.contains(value) { result.oneOf.append(value) }
    // Rules over one kind say nothing about a value of any kind.
    if type == .any {
      result.minimum = nil
      result.maximum = nil
      result.minimumLength = nil
      result.maximumLength = nil
      return result
    }
    result.minimum = looser(minimum, other.minimum) { bound, value in
      Validation(minimum: bound).violation(of: value) != nil
    }
    result.maximum = looser(maximum, other.maximum) { bound, value in
      Validation(maximum: bound).violation(of: value) != nil
    }
    result.minimumLength = looser(minimumLength, other.minimumLength) { $0 > $1 }
    result.maximumLength = looser(maximumLength, other.maximumLength) { $0 < $1 }
    return result
  }

  /// The one that is there, or the second if the first would refuse it.
  private func looser<T>(_ first: T?, _ second: T?, refuses: (T, T) -> Bool) -> T? {
    guard let first, let second else { return first ?? second }
    return refuses(first, second) ? second : first
  }
}
