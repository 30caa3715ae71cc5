import AnnalsModel

/// What `Store.commit` returns: what its closure returned, and the position after the transaction.
public struct Commit<Value> {
  /// What the closure returned.
  public let value: Value
  /// The position after the transaction; the newest position if nothing changed, since then nothing
  /// was recorded.
  public let token: Token
  /// What the merge policy of the write has resolved, 1,000 at most, in the order in which the
  /// write touched the objects: with `.storedWins` and `.ownWins` the properties that both sides
  /// had changed, with `.overwrite` all that others had changed of the objects, with `.rollBack`
  /// all that the write had; of deleted objects what the other side had changed. Empty without a
  /// policy.
  public let conflicts: [PropertyConflict]

  package init(value: Value, token: Token, conflicts: [PropertyConflict] = []) {
    self.value = value
    self.token = token
    self.conflicts = conflicts
  }
}

extension Commit: Sendable where Value: Sendable {}
