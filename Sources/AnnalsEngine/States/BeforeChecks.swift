import AnnalsFormat
import AnnalsModel
import AnnalsState

/// Compares what changes say was before them with what was.
package struct BeforeChecks {
  /// The first difference: the transaction's number, and what it says, in words.
  package private(set) var difference: (number: Int64, says: String)?

  /// Nothing was compared yet.
  package init() {}

  /// Looks at the changes of a transaction, or of a part of one, that `state` is about to take.
  package mutating func compare(
    _ record: TransactionRecord, in batch: ChangeBatch, with state: State
  ) throws(StateFault) {
    guard difference == nil else { return }
    for change in batch.changes[record.changeRange] where change.kind != .insert {
      guard let entity = state.schema.entity(numbered: change.entity) else { continue }
      var rest: Set<PropertyNumber> = []
      if change.kind == .delete {
        rest = Set(entity.attributes.map(\.number) + entity.relationships.map(\.number))
      }
      for property in batch.properties[change.propertyRange] where !property.isEdits {
        rest.remove(property.property)
        let was = try state.value(change.entity, change.row, property.property)
        let said = batch.arena.withUnsafeBytes { property.before.value(in: $0) }
        if was == said || was.isNull && isRemoved(property.property, of: entity) { continue }
        return tell(property.property, of: change, in: record, entity)
      }
      for property in rest.sorted() {
        guard try !state.value(change.entity, change.row, property).isNull else { continue }
        return tell(property, of: change, in: record, entity)
      }
    }
  }

  /// A base holds nothing of what was removed there, which deletes behind it may list.
  private func isRemoved(_ property: PropertyNumber, of entity: Entity) -> Bool {
    entity.attributes.contains { $0.number == property && $0.isRemoved }
      || entity.relationships.contains { $0.number == property && $0.isRemoved }
  }

  private mutating func tell(
    _ property: PropertyNumber, of change: ChangeEntry, in record: TransactionRecord,
    _ entity: Entity
  ) {
    let name =
      entity.attributes.first { $0.number == property }?.name
      ?? entity.relationships.first { $0.number == property }?.name ?? "\(property)"
    difference = (
      record.number,
      "says that \(name) of \(entity.name)#\(change.row) was otherwise before it than it was"
    )
  }
}
