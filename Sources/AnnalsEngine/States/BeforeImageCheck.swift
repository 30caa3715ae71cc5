import AnnalsFormat
import AnnalsModel
import AnnalsState

/// Compares the before-images that changes record with the state they are applied to.
package struct BeforeImageCheck {
  /// The first difference: the transaction's number, and a message.
  package private(set) var difference: (number: Int64, says: String)?

  /// Creates a check that has compared nothing.
  package init() {}

  /// Compares the changes of a transaction, or of a part of one, with `state`, which they are about
  /// to be applied to. Does nothing once a difference was found.
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
        if was == said { continue }
        return note(property.property, of: change, in: record, entity)
      }
      for property in rest.sorted() {
        guard try !state.value(change.entity, change.row, property).isNull else { continue }
        return note(property, of: change, in: record, entity)
      }
    }
  }

  private mutating func note(
    _ property: PropertyNumber, of change: ChangeEntry, in record: TransactionRecord,
    _ entity: Entity
  ) {
    let name = entity.propertyName(property) ?? "\(property)"
    difference = (
      record.number,
      "says that \(name) of \(entity.name)#\(change.row) was otherwise before it than it was"
    )
  }
}
