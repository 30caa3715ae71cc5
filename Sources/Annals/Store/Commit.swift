import AnnalsModel

/// What `Store.commit` returns: what its closure returned, and the position after the transaction.
public struct Commit<Value> {
  /// What the closure returned.
  public let value: Value
  /// The position after the transaction; the newest position if nothing changed, since then nothing
  /// was recorded.
  public let token: Token

  package init(value: Value, token: Token) {
    self.value = value
    self.token = token
  }
}

extension Commit: Sendable where Value: Sendable {}
