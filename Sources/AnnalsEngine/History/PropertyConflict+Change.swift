import AnnalsModel
import AnnalsState

extension PropertyConflict {
  /// The conflict over the object of a change, or over one of its properties, with the later change
  /// that touched it. Names the object by its key in `state`, or by the key it had when it was
  /// deleted.
  init(_ change: Change, _ property: PropertyNumber?, named state: State, with later: Change?) {
    let entity = change.entity
    let object = ObjectReference(entity: change.entry.entity, row: change.entry.row)
    var key = state.keyText(of: object)
    for change in [change, later] {
      guard key == nil, let change, change.kind == .delete else { continue }
      key = change.entity.keyAttribute.flatMap { change.difference(of: $0.number)?.before.keyText }
    }
    self.init(
      object: change.objectID, objectName: state.schema.nameText(of: object, key: key),
      property: property.map { entity.propertyName($0) ?? "#\($0)" },
      changedBy: later?.transactionNumber, isDeletion: later?.kind == .delete)
  }
}
