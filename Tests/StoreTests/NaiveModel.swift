import Annals
import AnnalsModel

/// What a store should hold just after one transaction, in the plainest form there is.
struct NaiveState {
  var schema = Schema()
  /// Every object with the values stored in it; nulls are left out.
  var rows: [ObjectReference: [PropertyNumber: Value]] = [:]

  /// The entities that can be read and written.
  var entities: [Entity] { schema.entities.filter { !$0.isRemoved } }

  /// The objects of one entity by row.
  func objects(of entity: EntityNumber) -> [ObjectReference] {
    rows.keys.filter { $0.entity == entity }.sorted()
  }

  /// Clears what the schema has removed, and deletes the objects of removed entities.
  mutating func dropRemoved() {
    for object in rows.keys {
      guard let entity = schema.entity(numbered: object.entity), !entity.isRemoved else {
        rows[object] = nil
        continue
      }
      for property in entity.removedProperties { rows[object]?[property] = nil }
    }
  }

  /// The object as a reader sees it: removed properties left out, a dangling to-one as none, the
  /// default where a required attribute was never written.
  func visible(_ object: ObjectReference) -> [PropertyNumber: Value] {
    guard let stored = rows[object], let entity = schema.entity(numbered: object.entity) else {
      return [:]
    }
    var result: [PropertyNumber: Value] = [:]
    for attribute in entity.attributes where !attribute.isRemoved {
      result[attribute.number] = stored[attribute.number] ?? attribute.valueOfUnwritten
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      guard let value = stored[relationship.number] else { continue }
      if case .object(let target) = value, rows[target] == nil { continue }
      result[relationship.number] = value
    }
    return result
  }

  /// Stores a value as the engine should: unordered lists sorted, empty ones and null as nothing.
  mutating func set(_ object: ObjectReference, _ property: PropertyNumber, to value: Value) {
    var kept = value
    if case .objects(let list) = value {
      let relationship = schema.entity(numbered: object.entity)?.relationships
        .first { $0.number == property }
      let list = relationship?.isOrdered == true ? list : Array(Set(list)).sorted()
      kept = list.isEmpty ? .null : .objects(list)
    }
    rows[object, default: [:]][property] = kept.isNull ? .none : .some(kept)
  }

  /// The object whose attribute holds this value.
  func lookup(_ entity: EntityNumber, _ property: PropertyNumber, _ value: Value) -> Int64? {
    objects(of: entity).first { rows[$0]?[property] == value }?.row
  }
}

extension Attribute {
  /// What a reader sees where nothing was ever written.
  fileprivate var valueOfUnwritten: Value? {
    guard !isOptional, let defaultValue, !defaultValue.isNull else { return nil }
    return defaultValue
  }
}

/// What turns one naive state into another, for one object.
struct NaiveChange {
  var kind: ChangeKind
  var before: [PropertyNumber: Value]
  var after: [PropertyNumber: Value]

  /// The properties that differ.
  var properties: Set<PropertyNumber> {
    Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
  }
}

extension NaiveState {
  /// The net changes that lead from this state to another.
  func changes(to other: NaiveState) -> [ObjectReference: NaiveChange] {
    var result: [ObjectReference: NaiveChange] = [:]
    for object in Set(rows.keys).union(other.rows.keys) {
      let before = rows[object]
      let after = other.rows[object]
      guard before != after else { continue }
      let kind: ChangeKind = before == nil ? .insert : after == nil ? .delete : .update
      result[object] = NaiveChange(kind: kind, before: before ?? [:], after: after ?? [:])
    }
    return result
  }

  /// Whether going on to `other` in one transaction breaks a rule; nil where it depends on how the
  /// difference of a list is expressed. What an object refers to in `earlier` need not exist.
  func isRefused(goingTo other: NaiveState, restoring earlier: NaiveState?) -> Bool? {
    var isUncertain = false
    for (object, change) in changes(to: other) where change.kind != .delete {
      guard let entity = other.schema.entity(numbered: object.entity) else { continue }
      let unique = Set(entity.uniqueRules.flatMap(\.properties))
      for property in unique where change.after[property]?.largeBytes != nil { return true }
      for attribute in entity.attributes
      where !attribute.isRemoved && !attribute.isOptional && attribute.defaultValue == nil {
        let isConcerned = change.kind == .insert || change.before[attribute.number] != nil
        if isConcerned, change.after[attribute.number] == nil { return true }
      }
      for property in change.properties {
        let isLive = entity.relationships.contains { $0.number == property && !$0.isRemoved }
        guard isLive, let value = change.after[property] else { continue }
        let old = change.before[property]?.targets ?? []
        let restored = earlier?.rows[object]?[property]?.targets ?? []
        for target in value.targets where other.rows[target] == nil && !restored.contains(target) {
          if !old.contains(target) { return true }
          isUncertain = true
        }
      }
    }
    if other.breaksUniqueness { return true }
    return isUncertain ? nil : false
  }

  private var breaksUniqueness: Bool {
    for entity in entities {
      for rule in entity.uniqueRules {
        var seen: Set<[Value]> = []
        for object in objects(of: entity.number) {
          let key = rule.properties.compactMap { rows[object]?[$0] }
          guard key.count == rule.properties.count, !key.contains(.erased) else { continue }
          if !seen.insert(key).inserted { return true }
        }
      }
    }
    return false
  }
}

extension Value {
  /// The objects that a relationship's value names.
  var targets: [ObjectReference] {
    switch self {
    case .object(let target): [target]
    case .objects(let list): list
    default: []
    }
  }
}
