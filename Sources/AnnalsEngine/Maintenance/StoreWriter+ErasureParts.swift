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
    var origin = TransactionOrigin(author: author)
    origin.isAlwaysRecorded = true
    var whole = erasure
    let proposed = try propose(origin) {
      var reach = ErasureReach(newest)
      whole = try reach.extended(erasure)
      $0.draft.origin.note(whole)
      try $0.draft.erase(whole)
    }
    return (proposed, whole)
  }

  /// Proposes the transaction that computes derived values again which were erased with others; nil
  /// if there is nothing to compute.
  package func proposeDerivedAgain(
    _ erasure: Erasure, author: String?
  ) throws -> ProposedTransaction? {
    let derivations = Derivations(newest.state.schema)
    return try propose(TransactionOrigin(author: author, context: "erase")) {
      try $0.draft.derive(again: erasure, derivations)
    }
  }

  /// Rewrites the file without the values that a transaction has erased, whoever made it. Other
  /// writers wait meanwhile. Throws as `Store.erase`; then the file still has the values.
  package func carryOut(_ erasure: Erasure, of number: Int64) throws(AnnalsError) {
    let claim = try claimRewrite(until: .now.advanced(by: options.lockTimeout))
    defer { claim.release() }
    try saving?.requireMakeable(head.published, "the file without what is erased")
    try AnnalsError.translating {
      let token = Token(store: log.store, number: number, opening: 0)
      _ = try writeAlone { try $0.carryOut(erasure, token, claim) }
    }
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
