import AnnalsModel

/// A property that a write, or a revert, changes and that others have changed since.
public struct PropertyConflict: Hashable, Sendable, CustomStringConvertible {
  /// The object.
  public var object: ObjectID
  /// The object as text: `Entity/KEY` or `Entity#ROW`.
  public var objectName: String
  /// The name of the property; nil if the conflict concerns the whole object.
  public var property: String?
  /// The transaction that changed it last.
  public var changedBy: Int64?
  /// Whether that transaction deleted the object.
  public var isDeletion: Bool
  /// The object as text to which a revert would let the property refer, if `changedBy` deleted
  /// that; nil for any other conflict.
  public var lostReference: String?
  /// The value in the state that the merged write is based on. Nil if the object did not exist
  /// then, or if nothing was merged. A value of many megabytes may come without its bytes.
  public var base: Value?
  /// The value that others have stored since. Nil if they deleted the object, or if nothing was
  /// merged.
  public var stored: Value?
  /// The value that the write gives the property. Nil if it deletes the object, or if nothing was
  /// merged.
  public var own: Value?
  /// The id of an object that the write inserted and that was united with `object`, which has the
  /// same unique key. No object has that id.
  public var insertedAs: ObjectID?

  /// Creates a conflict from its parts.
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
    if let lostReference {
      let deleted = changedBy.map { "deleted by transaction \($0)" } ?? "deleted since"
      return "\(name) would refer to \(lostReference), \(deleted)"
    }
    let verb = isDeletion ? "deleted" : "changed"
    let text = changedBy.map { "\(name), \(verb) by transaction \($0)" } ?? name
    if base == nil, stored == nil, own == nil {
      return insertedAs.map { "\(text), inserted again as \($0)" } ?? text
    }
    return text + ": was \(base?.shortDescription ?? "not there"), is "
      + "\(stored?.shortDescription ?? "deleted"), would be \(own?.shortDescription ?? "deleted")"
  }
}
