// The other side of relationships, by name. It is stored nowhere.

extension Schema {
  /// The relationship whose other side has this name at objects of an entity: one that says so, or
  /// any in the form of `inverseName(of:in:)`; with its entity. Nil if there is none.
  /// O(relationships).
  package func inverse(
    named name: String, of target: EntityNumber
  ) -> (source: Entity, relationship: Relationship)? {
    for source in entities where !source.isRemoved {
      for relationship in source.relationships
      where !relationship.isRemoved && relationship.destination == target {
        if relationship.inverseName?.hasSameBytes(as: name) == true
          || Schema.inverseName(of: relationship.name, in: source.name).hasSameBytes(as: name)
        {
          return (source, relationship)
        }
      }
    }
    return nil
  }

  /// The name, on a path, of the other side of a relationship that names none: `^Event.timeline`.
  package static func inverseName(of relationship: String, in entity: String) -> String {
    "^\(entity).\(relationship)"
  }
}
