import AnnalsModel
import AnnalsState

/// What a commit obeys: everything that follows from a schema and is prepared once for each.
///
/// Making one costs O(properties); the writer keeps the newest schema's.
final class CommitRules: Sendable {
  /// What happens to objects whose references lead to deleted ones.
  let deletes: DeleteRules
  /// The derived attributes.
  let derivations: Derivations
  /// The rules of each entity's properties, by rising number.
  private let entities: ContiguousArray<EntityRules>

  /// The rules of this schema.
  init(_ schema: Schema) {
    deletes = DeleteRules(schema)
    derivations = Derivations(schema)
    entities = ContiguousArray(schema.entities.map { EntityRules($0) })
  }

  /// The rules of an entity's properties; nil if the schema does not define it.
  func entity(_ number: EntityNumber) -> EntityRules? {
    // Numbers are dense, so the first look finds it unless the file is not one of ours.
    let guess = Int(number) - 1
    if guess >= 0, guess < entities.count, entities[guess].number == number {
      return entities[guess]
    }
    return entities.first { $0.number == number }
  }
}

extension StoreWriter {
  /// What a commit of the draft obeys, by the schema that it leaves. O(1) unless that was just
  /// changed.
  func rules(of draft: Draft) -> CommitRules {
    guard draft.changedEntities.isEmpty else { return CommitRules(draft.schema) }
    let version = head.newestSchemaVersion
    if let known = knownRules, known.version == version { return known.rules }
    let rules = CommitRules(newest.state.schema)
    knownRules = (version, rules)
    return rules
  }
}
