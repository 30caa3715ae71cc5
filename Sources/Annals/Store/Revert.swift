import AnnalsEngine
import AnnalsModel

extension Store {
  /// What `revert` would do now, without doing it; what delete rules would do is counted, too.
  public func revertPlan(_ position: any HistoryPosition) throws(AnnalsError) -> RevertPlan {
    let version = version
    let number = try number(at: position, in: version)
    var inverse = try TransactionInverse(of: number, in: version)
    try inverse.compare(with: version.state)
    try inverse.countEffects(in: writer.makeDraft(TransactionOrigin()))
    return inverse.plan
  }

  /// Commits a transaction that undoes the one at `position`: deletes inserted objects, revives
  /// deleted ones under their own ids, and restores the before-images of changed properties. What
  /// it added to the schema stays, and properties that were removed since stay away. A reference to
  /// an object that was already deleted then is restored as it was: it reads as nil until that is
  /// revived.
  ///
  /// - Returns: the position after the new transaction.
  /// - Throws: `.conflict` with the properties that later transactions changed, or that would refer
  ///   to an object deleted since; `.unsupported` for a transaction that changed only the schema,
  ///   or removed or renamed something in it; `.erased` if a before-image was erased, `.pruned`,
  ///   `.beyondHead`, and as `write` does; then nothing is recorded.
  @discardableResult
  public func revert(
    _ position: any HistoryPosition, author: String? = nil, context: String? = nil,
    metadata: [String: Value] = [:]
  ) throws -> Token {
    try writer.write { writer in
      // Only now has the store caught up with other processes.
      let number = try self.number(at: position, in: writer.newest)
      var metadata = metadata
      if metadata["reverts"] == nil { metadata["reverts"] = .int(number) }
      let origin = TransactionOrigin(author: author, context: context, metadata: metadata)
      return try writer.append(origin) { transaction in
        var inverse = try TransactionInverse(of: number, in: writer.newest)
        try inverse.compare(with: transaction.draft.base)
        if let refusal = inverse.plan.refusal() { throw refusal }
        try transaction.draft.undo(inverse)
      }.token
    }
  }
}
