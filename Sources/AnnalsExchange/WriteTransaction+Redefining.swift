import Annals
import AnnalsModel
import AnnalsState

// Whether a definition in lines can take the place of the store's. Lines are input: a definition
// that does not fit the values in the store would damage it. Whether objects lack what becomes
// required is checked when the transaction ends.

extension WriteTransaction {
  /// Whether a store may make this definition that one: nothing is gone, what is new has new
  /// numbers, and every value that there is fits. O(properties); a type that is narrowed, as where
  /// a salvaged store learns of a lost definition, costs O(objects).
  func canRedefine(_ old: Entity, as new: Entity) throws(AnnalsError) -> Bool {
    guard new.nextPropertyNumber >= old.nextPropertyNumber, !old.isRemoved || new.isRemoved else {
      return false
    }
    let hasObjects = reader.state.count(of: old.number) > 0
    var known = 0
    for attribute in new.attributes {
      if let former = old.attribute(numbered: attribute.number) {
        known += 1
        guard try canRedefine(former, as: attribute, of: old.number, hasObjects) else {
          return false
        }
      } else {
        guard attribute.number >= old.nextPropertyNumber else { return false }
      }
    }
    guard known == old.attributes.count else { return false }
    known = 0
    for relationship in new.relationships {
      if let former = old.relationships.first(where: { $0.number == relationship.number }) {
        known += 1
        guard try canRedefine(former, as: relationship, of: old.number) else { return false }
      } else if relationship.number < old.nextPropertyNumber {
        return false
      }
    }
    return known == old.relationships.count
  }

  private func canRedefine(
    _ old: Attribute, as new: Attribute, of entity: EntityNumber, _ hasObjects: Bool
  ) throws(AnnalsError) -> Bool {
    guard new.isRemoved || !old.isRemoved else { return false }
    guard new.isOptional || !old.isOptional || !hasObjects || new.defaultValue != nil else {
      return false
    }
    if old.type == new.type || old.type.widens(to: new.type) { return true }
    return try allValues(of: new.number, in: entity) { value in
      // The value itself if it is one of the type; nil or another one if not.
      if case .large(let large) = value { return large.tag == new.type.tag }
      return value.tag == new.type.tag && (try? new.type.value(from: value)) == .some(value)
    }
  }

  private func canRedefine(
    _ old: Relationship, as new: Relationship, of entity: EntityNumber
  ) throws(AnnalsError) -> Bool {
    guard new.isRemoved || !old.isRemoved else { return false }
    if old.destination == new.destination, old.isToMany == new.isToMany,
      old.isOrdered == new.isOrdered
    {
      return true
    }
    return try allValues(of: new.number, in: entity) { value in
      switch value {
      case .object(let target): !new.isToMany && target.entity == new.destination
      case .objects(let list):
        new.isToMany && list.allSatisfy { $0.entity == new.destination }
          && new.canonical(list) == list
      default: false
      }
    }
  }

  /// Whether all values of a property, apart from null and what was erased, meet the condition.
  private func allValues(
    of property: PropertyNumber, in entity: EntityNumber, _ isMet: (Value) -> Bool
  ) throws(AnnalsError) -> Bool {
    var rows = reader.state.rows(of: entity)
    while let row = try AnnalsError.translating({ try rows.next() }) {
      let value = try draft.value(ObjectReference(entity: entity, row: row), property)
      guard value.isNull || value.isErased || isMet(value) else { return false }
    }
    return true
  }
}
