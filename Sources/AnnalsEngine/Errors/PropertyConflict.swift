import AnnalsModel

/// A property that others changed, where a write, or what it undoes, changes it too.
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
  /// The value in the state that a merged write was decided on; nil if the object was not there
  /// then, and where nothing was to be merged. A value of many megabytes may be given without its
  /// bytes.
  public var base: Value?
  /// The value that others have given the property meanwhile; nil if they deleted the object, and
  /// where nothing was to be merged.
  public var stored: Value?
  /// The value that the write gives the property; nil if it deletes the object, and where nothing
  /// was to be merged.
  public var own: Value?
  /// The id that the write's closure got for an object that it inserted, if it became one with
  /// `object`, which has its unique key; nothing has that id.
  public var insertedAs: ObjectID?

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

  /// The object and property, the transaction that changed them, and the three values of a merge.
  public var description: String {
    let name = property.map { "\(objectName).\($0)" } ?? objectName
    let verb = isDeletion ? "deleted" : "changed"
    let text = changedBy.map { "\(name), \(verb) by transaction \($0)" } ?? name
    if base == nil, stored == nil, own == nil {
      return insertedAs.map { "\(text), inserted again as \($0)" } ?? text
    }
    return text + ": was \(base?.shortDescription ?? "not there"), is "
      + "\(stored?.shortDescription ?? "deleted"), would be \(own?.shortDescription ?? "deleted")"
  }
}
