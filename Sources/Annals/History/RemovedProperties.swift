import AnnalsModel

// A property that was removed from the schema keeps its values, hidden, so that states from before
// the removal can be read. A later delete records the whole object, these values among them.
// Whoever reads history sees only what the object visibly had.

extension Schema {
  /// Whether any property of it was removed.
  var hasRemovedProperties: Bool {
    entities.contains { entity in
      entity.attributes.contains(where: \.isRemoved)
        || entity.relationships.contains(where: \.isRemoved)
    }
  }
}

extension ChangeBatch {
  /// Takes out of all changes the properties that had been removed by their transactions, and
  /// leaves the changes where they are. O(changes).
  mutating func leaveOutRemoved(by glossary: Glossary) {
    for transaction in transactions {
      let schema = glossary.schema(asOf: transaction.number)
      guard schema.hasRemovedProperties else { continue }
      var removed: [EntityNumber: Set<PropertyNumber>] = [:]
      for entity in schema.entities { removed[entity.number] = entity.removedProperties }
      for index in transaction.changeRange {
        guard let gone = removed[changes[index].entity], !gone.isEmpty else { continue }
        leaveOut(gone, ofChange: index)
      }
    }
  }

  /// Takes properties out of one change. What is left of it goes behind those of all changes.
  private mutating func leaveOut(_ removed: Set<PropertyNumber>, ofChange index: Int) {
    let change = changes[index]
    guard change.propertyRange.contains(where: { removed.contains(properties[$0].property) }) else {
      return
    }
    let kept = properties[change.propertyRange].filter { !removed.contains($0.property) }
    changes[index] = ChangeEntry(
      kind: change.kind, entity: change.entity, row: change.row, firstProperty: properties.count,
      propertyCount: kept.count)
    properties += kept
  }
}
