import AnnalsModel
import AnnalsState

/// The delete rules of a schema, by the entity of the objects that are referred to.
///
/// A value. Making one costs O(relationships); the writer keeps the newest schema's.
package struct DeleteRules: Sendable {
  /// A relationship with a rule. A class, as each referrer that is found has it.
  final class Source: Sendable {
    let entity: EntityNumber
    let relationship: Relationship
    let rule: DeleteRule

    init(_ relationship: Relationship, of entity: EntityNumber) {
      self.relationship = relationship
      self.entity = entity
      rule = relationship.deleteRule ?? .keep
    }
  }

  private var sources: [EntityNumber: [Source]] = [:]
  private var relationships: [EntityNumber: [Relationship]] = [:]

  /// The rules of this schema.
  package init(_ schema: Schema) {
    for entity in schema.entities where !entity.isRemoved {
      for relationship in entity.relationships where relationship.hasDeleteRule {
        sources[relationship.destination, default: []].append(
          Source(relationship, of: entity.number))
        relationships[entity.number, default: []].append(relationship)
      }
    }
  }

  /// Whether there are none.
  var isEmpty: Bool { sources.isEmpty }

  /// The relationships with a rule that lead to objects of this entity.
  subscript(entity: EntityNumber) -> [Source] { sources[entity] ?? [] }

  /// The relationships of this entity that have a rule.
  func relationships(of entity: EntityNumber) -> [Relationship] { relationships[entity] ?? [] }
}

/// What a delete rule did to an object, and the deletion that was the cause.
struct DeletionEffect: Sendable {
  /// The object that was deleted, or whose reference was cleared.
  let object: ObjectReference
  /// The deleted object that it referred to.
  let cause: ObjectReference
  /// The relationship that was cleared; nil if the object was deleted.
  let cleared: PropertyNumber?
}

// A stage of the commit (`CommitStages.swift`): what refers to deleted objects follows its rule.

extension Draft {
  /// What refers to a deleted object by a relationship with a rule: the rows of the relationship's
  /// entity.
  private struct Referrers {
    let target: ObjectReference
    let source: DeleteRules.Source
    let rows: [Int64]
  }

  /// Deletes what refers to the objects that the draft deletes, or clears the references, as the
  /// rules say; adds a violation for each deletion that is denied, unless `denies` is false.
  ///
  /// Works in rounds: what one deletes is what the next looks at, so cycles end. Returns what it
  /// did, in that order, which depends on numbers alone. O(effects log objects).
  mutating func apply(
    _ rules: DeleteRules, denies: Bool = true
  ) throws(AnnalsError) -> [DeletionEffect] {
    if deletions.isEmpty || rules.isEmpty { return [] }
    var effects: [DeletionEffect] = []
    var denied: [(target: ObjectReference, source: DeleteRules.Source)] = []
    var gone: ContiguousArray<ObjectReference> = []
    for object in deletions {
      if try !exists(object) { gone.append(object) }
    }
    while !gone.isEmpty {
      gone.sort()
      let before = effects.count
      // All are found before the first is changed, which would make the indexes stale.
      for referrers in try referrers(to: gone, rules, &denied) {
        for row in referrers.rows { try follow(row, of: referrers, &effects) }
      }
      gone = ContiguousArray(effects[before...].lazy.filter { $0.cleared == nil }.map(\.object))
    }
    if denies { try check(denied) }
    if !effects.isEmpty { touched.move(effects.map(\.object), before: deletions) }
    return effects
  }

  /// All that refers to these objects, which are gone, by relationships whose rule does something;
  /// notes those whose rule denies it.
  private mutating func referrers(
    to gone: ContiguousArray<ObjectReference>, _ rules: DeleteRules,
    _ denied: inout [(target: ObjectReference, source: DeleteRules.Source)]
  ) throws(AnnalsError) -> [Referrers] {
    try mergePendingEntries()
    var found: [Referrers] = []
    // They come by entity.
    var entity: EntityNumber?
    var sources: [DeleteRules.Source] = []
    for target in gone {
      if target.entity != entity { (entity, sources) = (target.entity, rules[target.entity]) }
      for source in sources {
        if source.rule == .deny {
          denied.append((target, source))
          continue
        }
        let rows = try referrers(to: target, by: source)
        if !rows.isEmpty { found.append(Referrers(target: target, source: source, rows: rows)) }
      }
    }
    return found
  }

  private func referrers(
    to target: ObjectReference, by source: DeleteRules.Source
  ) throws(AnnalsError) -> [Int64] {
    try AnnalsError.translating {
      try reader.state.referrers(
        to: target.row, from: source.entity, by: source.relationship.number) ?? []
    }
  }

  /// Does what the rule says with an object that refers to a deleted one. It may be gone already,
  /// or the reference cleared, for another one.
  private mutating func follow(
    _ row: Int64, of referrers: Referrers, _ effects: inout [DeletionEffect]
  ) throws(AnnalsError) {
    let (source, target) = (referrers.source, referrers.target)
    let object = ObjectReference(entity: source.entity, row: row)
    let property = source.relationship.number
    guard try exists(object), try refers(object, property, to: target) else { return }
    if source.rule == .cascade {
      try remove(object)
      effects.append(DeletionEffect(object: object, cause: target, cleared: nil))
    } else {
      try dropDangling(property, of: object)
      effects.append(DeletionEffect(object: object, cause: target, cleared: property))
    }
  }

  /// Whether an object refers to another one by a relationship. Copies no list.
  private func refers(
    _ object: ObjectReference, _ property: PropertyNumber, to target: ObjectReference
  ) throws(AnnalsError) -> Bool {
    try AnnalsError.translating {
      let found = try reader.state.locate(object.entity, object.row, property)
      defer { found.keepAlive() }
      switch found.cell.tag {
      case .object:
        return found.cell.length == target.entity
          && Int64(bitPattern: found.cell.bits) == target.row
      case .objects:
        return ObjectReference.list(in: found.cell.bytes(in: found.arena)).contains(target)
      default: return false
      }
    }
  }

  /// Takes the references to objects that do not exist out of a property.
  mutating func dropDangling(
    _ property: PropertyNumber, of object: ObjectReference
  ) throws(AnnalsError) {
    var left: [ObjectReference] = []
    for target in try value(object, property).targets {
      if try exists(target) { left.append(target) }
    }
    try set(object, property, to: left.isEmpty ? .null : .objects(left))
  }

  /// The most denied deletions that are told.
  private static let mostDenied = 1_000

  /// Adds a violation for each of these deletions that something still refers to.
  private mutating func check(
    _ denied: [(target: ObjectReference, source: DeleteRules.Source)]
  ) throws(AnnalsError) {
    if denied.isEmpty { return }
    try mergePendingEntries()
    for (target, source) in denied where violations.count < Draft.mostDenied {
      guard let row = try referrers(to: target, by: source).first else { continue }
      violations.append(
        ValidationViolation(
          entity: schema.entity(numbered: source.entity)?.name ?? "?",
          object: ObjectReference(entity: source.entity, row: row),
          property: source.relationship.name, rule: .noReference(to: target),
          value: .object(target)))
    }
  }
}
