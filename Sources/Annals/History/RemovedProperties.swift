import AnnalsModel

// A property that was removed from the schema keeps its values, hidden, so that states before the
// removal can be read. A later delete records the whole object with these values. Readers of
// history see only the visible properties.

extension Schema {
  /// Whether the schema has removed properties.
  var hasRemovedProperties: Bool {
    entities.contains { entity in
      entity.attributes.contains(where: \.isRemoved)
        || entity.relationships.contains(where: \.isRemoved)
    }
  }
}

extension ChangeBatch {
  /// Leaves out of all changes the properties that were removed before their transactions. The
  /// changes stay in place. O(changes).
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

  /// Leaves properties out of one change; the others are appended after those of all changes.
  mutating func leaveOut(_ removed: Set<PropertyNumber>, ofChange index: Int) {
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
