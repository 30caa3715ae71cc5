import AnnalsLog
import AnnalsModel
import AnnalsState

// An erasure in steps, for a store whose transactions are ordered elsewhere: what it records is
// proposed in one place, and the file is rewritten in every one.

extension StoreWriter {
  /// Proposes the transaction that records the erasure, with all that is derived from it. Also
  /// returns the whole of what is to be erased. Throws `.invalidArgument` as `erase` does.
  package func propose(
    erasing erasure: Erasure, author: String?
  ) throws -> (proposed: ProposedTransaction?, whole: Erasure) {
    try requireMakeable(erasure)
    var whole = erasure
    let proposed = try propose(.ofErasure(author)) { whole = try extend(erasure, in: $0) }
    return (proposed, whole)
  }

  /// Records the erasure in a transaction, with all that is derived from it: returns that.
  func extend(_ erasure: Erasure, in transaction: WriteTransaction) throws -> Erasure {
    var reach = ErasureReach(newest)
    let whole = try reach.extended(erasure)
    transaction.draft.origin.note(whole)
    try transaction.draft.erase(whole)
    return whole
  }

  /// Proposes the transaction that computes derived values again which were erased with others; nil
  /// if there is nothing to compute.
  package func proposeDerivedAgain(
    _ erasure: Erasure, author: String?
  ) throws -> ProposedTransaction? {
    let derivations = Derivations(newest.state.schema)
    return try propose(TransactionOrigin(author: author, context: "erase")) {
      try $0.draft.derive(derivations, again: erasure)
    }
  }

  /// Rewrites the file without the values that a transaction has erased, whoever made it. Other
  /// writers wait meanwhile. Throws as `Store.erase`; then the file still has the values.
  package func carryOut(_ erasure: Erasure, of number: Int64) throws(AnnalsError) {
    let claim = try claimErasure()
    defer { claim.release() }
    try AnnalsError.translating {
      let token = Token(store: log.store, number: number, opening: 0)
      _ = try writeAlone { try $0.carryOut(erasure, token, claim) }
    }
  }

  /// Claims the rewrite that carries out an erasure. Throws if it is going to fail.
  func claimErasure() throws(AnnalsError) -> RewriteClaim {
    let claim = try claimRewrite(until: .now.advanced(by: options.lockTimeout))
    try saving?.requireMakeable(head.published, "the file without what is erased")
    return claim
  }

  /// Throws `.invalidArgument` for an erasure without a reason, or of nothing.
  func requireMakeable(_ erasure: Erasure) throws(AnnalsError) {
    guard !erasure.reason.isEmpty, erasure.reason.utf8.count <= Erasure.longestReason else {
      throw AnnalsError(
        .invalidArgument,
        "an erasure needs a reason, of at most \(Erasure.longestReason) bytes; nothing was changed")
    }
    guard !erasure.targets.isEmpty else {
      throw AnnalsError(.invalidArgument, "there is nothing to erase")
    }
  }
}

extension TransactionOrigin {
  /// The origin of a transaction that records an erasure: it is recorded even if no value is left
  /// to erase.
  static func ofErasure(_ author: String?) -> TransactionOrigin {
    var origin = TransactionOrigin(author: author)
    origin.isAlwaysRecorded = true
    return origin
  }
}
