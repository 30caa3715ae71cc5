import AnnalsModel

// In stores whose removals were made before these recorded the clears, a removed property kept its
// values, hidden, and a later delete records the whole object with them. Readers of history leave
// them out. Goes with the next draft of the format.

extension Schema {
  /// Whether the schema has removed properties.
  var hasRemovedProperties: Bool { entities.contains(where: \.hasRemovedProperties) }
}

extension ChangeBatch {
  /// Leaves out of all deletes the properties that were removed before their transactions. The
  /// changes stay in place. O(changes).
  package mutating func leaveOutRemoved(by glossary: Glossary) {
    for transaction in transactions {
      let deletes = transaction.changeRange.filter { changes[$0].kind == .delete }
      guard !deletes.isEmpty else { continue }
      let schema = glossary.schema(asOf: transaction.number - 1)
      for index in deletes { leaveOutRemoved(by: schema, ofChange: index) }
    }
  }

  /// Leaves the properties that the schema has removed out of one change; the others are appended
  /// after those of all changes.
  package mutating func leaveOutRemoved(by schema: Schema, ofChange index: Int) {
    let change = changes[index]
    guard let entity = schema.entity(numbered: change.entity),
      change.propertyRange.contains(where: { entity.isRemoved(properties[$0].property) })
    else { return }
    let kept = properties[change.propertyRange].filter { !entity.isRemoved($0.property) }
    changes[index] = ChangeEntry(
      kind: change.kind, entity: change.entity, row: change.row, firstProperty: properties.count,
      propertyCount: kept.count)
    properties += kept
  }
}
