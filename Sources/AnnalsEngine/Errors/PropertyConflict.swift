import AnnalsModel

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
  package init(
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
