import AnnalsEngine
import AnnalsModel
import AnnalsState

extension Store {
  /// Erases an object: deletes it if it exists, and removes every value that it ever had from the
  /// file by rewriting the file.
  ///
  /// A transaction of its own records which object was erased, when, by whom and why. Everywhere
  /// else `Value.erased` replaces the object's before- and after-images: in history, in past
  /// states, in the base. Transactions, objects and all other values keep their numbers, and other
  /// objects keep their references to this one. What is derived from a value is erased with it, and
  /// then computed of what is left, in a transaction of its own. Values over 4 KiB that other
  /// objects share stay with those. Saved states of projections are dropped, since they may contain
  /// anything.
  ///
  /// This applies to this file, once the last process has closed the old one. It does not reach
  /// copies, backups and exports, the disk blocks that the old file has freed, snapshots that
  /// programs hold, nor metadata, names of authors and contexts, defaults and the schema.
  ///
  /// Other writers wait meanwhile; another rewrite is waited for as long as `lockTimeout` says. A
  /// crash leaves the old file or the new one, whole. The old one
  /// may already contain the transaction; then `verify` reports that the erasure was not carried
  /// out. The same holds if this throws after the transaction: call it again. If derived values
  /// cannot be computed again afterwards, the error says that the values are erased.
  ///
  /// Pruning the transaction drops what it says; what was erased stays erased.
  ///
  /// Throws `.noSuchObject` for an object that never existed, `.invalidArgument` for an empty
  /// reason or one of more than 4,096 bytes, `.unsupported` if the saved state of a registered
  /// projection cannot be rebuilt because history was pruned; and as `write` and `compact` do.
  @discardableResult
  public func erase(
    _ object: ObjectID, reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    try erase([object], reason: reason, author: author)
  }

  /// Erases objects, as the other form erases one, with one rewrite of the file.
  @discardableResult
  public func erase(
    _ objects: [ObjectID], reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    var targets: [Erasure.Target] = []
    for reference in try objects.map(writer.erasable).sortedAndUnique() {
      targets.append(Erasure.Target(reference))
    }
    return try writer.erase(Erasure(targets, reason: reason), author: author)
  }

  /// Erases the values that an object has, or ever had, in properties with these names. The object
  /// stays, and has `Value.erased` there until another value is set.
  ///
  /// A property that was removed from the schema is erased by the name that it had last. Otherwise
  /// as the other forms. Also throws `.invalidArgument` for an unknown property.
  @discardableResult
  public func erase(
    _ object: ObjectID, properties: [String], reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    let reference = try writer.erasable(object)
    guard let entity = version.state.schema.entity(numbered: object.entity), !properties.isEmpty
    else { throw AnnalsError(.invalidArgument, "no property was named to erase") }
    var numbers: Set<PropertyNumber> = []
    for name in properties {
      let found = entity.erasableProperties(named: name)
      guard !found.isEmpty else { throw AnnalsError(.invalidArgument, entity.unknownName(name)) }
      numbers.formUnion(found)
    }
    let target = Erasure.Target(reference, properties: Array(numbers))
    return try writer.erase(Erasure([target], reason: reason), author: author)
  }

  /// Erases the values that a record type's object has, or ever had, in one property; as the form
  /// with names.
  @discardableResult
  public func erase<R: Record, V>(
    _ keyPath: KeyPath<R, V>, of object: Object<R>, reason: String, author: String? = nil
  ) throws(AnnalsError) -> ErasureSummary {
    try erase(
      object.objectID, properties: [R.entity.propertyName(of: keyPath)], reason: reason,
      author: author)
  }
}
