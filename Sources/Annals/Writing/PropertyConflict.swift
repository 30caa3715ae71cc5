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

  /// The conflict of these parts.
  public init(object: ObjectID, objectName: String, property: String?, changedBy: Int64?) {
    self.object = object
    self.objectName = objectName
    self.property = property
    self.changedBy = changedBy
  }

  /// The object and property, and the transaction that changed them.
  public var description: String {
    let name = property.map { "\(objectName).\($0)" } ?? objectName
    return changedBy.map { "\(name), changed by transaction \($0)" } ?? name
  }
}

extension PropertyConflict {
  /// The conflict with one change: over one of its properties, or over the object. The object is
  /// named by its key in `state`.
  init(_ change: Change, _ property: PropertyNumber?, named state: State, changedBy: Int64?) {
    let entity = change.entity
    let row = change.objectID.row
    let key = entity.keyAttribute.flatMap {
      try? state.value(entity.number, row, $0.number).keyText
    }
    self.init(
      object: change.objectID,
      objectName: key.map { "\(entity.name)/\($0)" } ?? "\(entity.name)#\(row)",
      property: property.map { entity.propertyName($0) ?? "#\($0)" }, changedBy: changedBy)
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
