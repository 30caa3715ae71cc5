import AnnalsModel
import AnnalsState

/// A property that a later transaction changed.
public struct PropertyConflict: Hashable, Sendable, CustomStringConvertible {
  /// The object.
  public var object: ObjectID
  /// The object as text: `Entity/KEY` or `Entity#ROW`.
  public var objectName: String
  /// The name of the property; nil where the whole object is meant.
  public var property: String?
  /// The transaction that changed it last.
  public var changedBy: Int64?
  /// Whether that transaction deleted the object.
  public var isDeletion: Bool

  /// The conflict of these parts.
  public init(
    object: ObjectID, objectName: String, property: String?, changedBy: Int64?,
    isDeletion: Bool = false
  ) {
    self.object = object
    self.objectName = objectName
    self.property = property
    self.changedBy = changedBy
    self.isDeletion = isDeletion
  }

  /// The object and property, and the transaction that changed them.
  public var description: String {
    let name = property.map { "\(objectName).\($0)" } ?? objectName
    let verb = isDeletion ? "deleted" : "changed"
    return changedBy.map { "\(name), \(verb) by transaction \($0)" } ?? name
  }
}

extension PropertyConflict {
  /// The conflict over an object that one change is about, or over a property of it, with the later
  /// change that touched it. The object is named by the key that it has in `state`, or had when it
  /// was deleted.
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

extension State {
  /// Whether a property of an object has the same value in another state.
  func hasSameValue(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber, as other: State
  ) throws(StateFault) -> Bool {
    try withCell(entity, row, property) { a, arenaA throws(StateFault) in
      try other.withCell(entity, row, property) { b, arenaB throws(StateFault) in
        ValueCell.areEqual(a, in: arenaA, b, in: arenaB)
      }
    }
  }
}
