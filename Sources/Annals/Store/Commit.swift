import AnnalsEngine
import AnnalsModel

/// The result of `Store.commit`: what the closure returned, and the position after the transaction.
public struct Commit<Value> {
  /// What the closure returned.
  public let value: Value
  /// The position after the transaction. If nothing changed, nothing was recorded, and this is the
  /// newest position.
  public let token: Token
  /// The conflicts that the write's merge policy resolved, at most 1,000, in the order in which the
  /// write touched the objects. With `.storedWins` and `.ownWins`: the properties that both sides
  /// had changed. With `.overwrite`: everything that others had changed in the objects. With
  /// `.rollBack`: everything that the write had changed. For deleted objects: what the other side
  /// had changed. Empty without a policy.
  public let conflicts: [PropertyConflict]

  /// The objects that the write inserted with a unique key which another object has got since: the
  /// id that the insert returned, which no object has, and that of the object that it has become.
  /// Empty without a policy.
  public internal(set) var mergedObjects: [ObjectID: ObjectID] = [:]

  /// The objects that an editing context inserted, and that have got other ids since others have
  /// used theirs: the id until now, and the one that it has. Empty for writes.
  public internal(set) var movedObjects: [ObjectID: ObjectID] = [:]

  package init(value: Value, token: Token, conflicts: [PropertyConflict] = []) {
    self.value = value
    self.token = token
    self.conflicts = conflicts
  }

  /// What a commit comes to, and the value that its closure returned, which `commit` sets.
  init(_ commit: (_ value: inout Value?) throws -> CommitResult) rethrows {
    var value: Value?
    let result = try commit(&value)
    guard let value else { preconditionFailure("a commit returned without having run its closure") }
    self.init(value, result)
  }

  /// The value that a closure returned, and what its commit came to.
  package init(_ value: Value, _ result: CommitResult) {
    self.init(value: value, token: result.token, conflicts: result.conflicts)
    mergedObjects = Commit.ids(result.mergedObjects, of: token.store)
    movedObjects = Commit.ids(result.moves, of: token.store)
  }

  private static func ids(
    _ pairs: [ObjectReference: ObjectReference], of store: RawUUID
  ) -> [ObjectID: ObjectID] {
    if pairs.isEmpty { return [:] }
    var result: [ObjectID: ObjectID] = [:]
    for (old, new) in pairs {
      let id = ObjectID(store: store, entity: old.entity, row: old.row)
      result[id] = ObjectID(store: store, entity: new.entity, row: new.row)
    }
    return result
  }
}

extension Commit: Sendable where Value: Sendable {}
