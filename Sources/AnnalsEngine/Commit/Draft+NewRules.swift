import AnnalsModel
import AnnalsState

// A relationship that had no delete rule gets one: from then on it refers to no deleted object.

extension Draft {
  /// Clears the references to deleted objects of relationships that get their first delete rule, if
  /// the declaration says so; otherwise throws `.invalidSchema`, which lists them. O(objects) of
  /// their entities.
  mutating func followNewRules(
    of changed: [Entity], as declared: Schema
  ) throws(AnnalsError) {
    var conflicts: [SchemaConflict] = []
    for entity in changed {
      guard let before = base.schema.entity(numbered: entity.number) else { continue }
      for relationship in entity.relationships where relationship.hasDeleteRule {
        let old = before.relationships.first { $0.number == relationship.number }
        guard let old, !old.hasDeleteRule else { continue }
        let dangling = try clearDangling(relationship, of: entity, as: declared)
        if !dangling.isEmpty { conflicts.append(conflict(dangling, relationship, of: entity)) }
      }
    }
    if !conflicts.isEmpty { throw fail(.invalidSchema(SchemaError(conflicts))) }
  }

  /// Clears the references of a relationship to deleted objects, if its declaration says so.
  /// Otherwise returns the objects that have some. O(objects).
  mutating func clearDangling(
    _ relationship: Relationship, of entity: Entity, as declared: Schema
  ) throws(AnnalsError) -> [ObjectReference] {
    let options = declared.entity(named: entity.name)?.relationship(named: relationship.name)?
      .deleteRuleOptions
    let clears = options?.contains(.nullifyDangling) ?? false
    let dangling = try dangling(relationship, of: entity.number)
    guard clears, !relationship.isRequired else { return dangling }
    for object in dangling { try dropDangling(relationship.number, of: object) }
    return []
  }

  /// The objects that refer to deleted ones.
  private func dangling(
    _ relationship: Relationship, of entity: EntityNumber
  ) throws(AnnalsError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    var rows = reader.state.rows(of: entity)
    while let row = try AnnalsError.translating({ try rows.next() }) {
      let object = ObjectReference(entity: entity, row: row)
      for target in try value(object, relationship.number).targets {
        if try exists(target) { continue }
        found.append(object)
        break
      }
    }
    return found
  }

  /// The most objects that are listed.
  private static let mostListed = 20

  private func conflict(
    _ objects: [ObjectReference], _ relationship: Relationship, of entity: Entity
  ) -> SchemaConflict {
    let names = objects.prefix(Draft.mostListed).map { nameText(of: $0) }
    let more = objects.count - names.count
    let advice =
      relationship.isRequired
      ? "Set others first, or delete these objects" : "Clear them with `.nullifyDangling`"
    return SchemaConflict(
      .danglingReference, entity.name, relationship.name,
      "it gets a delete rule, and refers to deleted objects in "
        + names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "") + ". \(advice)")
  }
}
