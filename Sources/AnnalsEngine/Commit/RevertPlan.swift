import AnnalsModel

/// What reverting a transaction would do.
public struct RevertPlan: Sendable {
  /// The transaction to revert.
  public let transaction: TransactionHeader
  /// How many objects would be deleted.
  public internal(set) var deletions = 0
  /// How many objects would be updated.
  public internal(set) var updates = 0
  /// How many objects would be revived.
  public internal(set) var revivals = 0
  /// What later transactions changed, so that the revert is refused; empty if it is possible.
  public internal(set) var conflicts: [PropertyConflict] = []

  /// The properties whose values before or after the transaction were erased since, so that it is
  /// unknown what to restore, or whether they are still as it left them; by name, without
  /// duplicates.
  public internal(set) var erased: [String] = []

  /// The entities whose definitions the transaction changed, if it cannot be reverted for that: it
  /// changed nothing else, or removed or renamed an entity or property. By name; empty for others.
  public internal(set) var redefined: [String] = []

  /// The names of the migrations that the transaction is, for which it cannot be reverted; empty
  /// for others.
  public var migrations: [String] { transaction.migrations }

  init(_ transaction: TransactionHeader) {
    self.transaction = transaction
  }

  /// Why the transaction cannot be reverted; nil if it can. `done` is what it was to be.
  package func refusal(_ done: String = "reverted") -> AnnalsError? {
    if let name = migrations.first {
      return AnnalsError(
        .unsupported,
        "transaction \(transaction.number) is the migration \"\(name)\", which cannot be \(done), "
          + "as it is made once; nothing was recorded. Write another migration that changes back "
          + "what it changed")
    }
    if !redefined.isEmpty {
      let number = transaction.number
      return AnnalsError(
        .unsupported,
        "transaction \(number) changed the schema of \(redefined.joined(separator: ", ")), which "
          + "cannot be \(done); nothing was recorded. The state before it, as of "
          + "\(number - 1), has the names and values of then: edit the schema, and write them again"
      )
    }
    if !erased.isEmpty {
      return AnnalsError(
        .erased,
        "transaction \(transaction.number) cannot be \(done), values of it were erased: "
          + erased.joined(separator: ", "))
    }
    guard !conflicts.isEmpty else { return nil }
    return .conflict(
      "transaction \(transaction.number) cannot be \(done), later transactions touched what it "
        + "did", conflicts)
  }
}

extension RevertPlan: CustomStringConvertible {
  /// What would be done, or why nothing: `undoes transaction 4: 1 deletion, 2 updates, 0 revivals`.
  public var description: String {
    let counts = [(deletions, "deletion"), (updates, "update"), (revivals, "revival")]
    let text = counts.map { "\($0) \($0 == 1 ? $1 : $1 + "s")" }.joined(separator: ", ")
    if let name = migrations.first {
      return "cannot undo transaction \(transaction.number): it is the migration \"\(name)\""
    }
    if !redefined.isEmpty {
      return "cannot undo transaction \(transaction.number): it changed the schema of "
        + redefined.joined(separator: ", ")
    }
    if !erased.isEmpty {
      return "cannot undo transaction \(transaction.number): values were erased of "
        + erased.joined(separator: ", ")
    }
    if !conflicts.isEmpty {
      return "cannot undo transaction \(transaction.number): "
        + conflicts.map(\.description).joined(separator: "; ")
    }
    return "undoes transaction \(transaction.number): \(text)"
  }
}
