import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// The result of an erasure.
public struct ErasureSummary: Sendable {
  /// The position after the transaction that records the erasure.
  public let token: Token
  /// The size of the file before, in bytes.
  public let bytesBefore: UInt64
  /// The size of the file after, in bytes.
  public let bytesAfter: UInt64
}

extension StoreWriter {
  /// The object; throws if no object ever had this id.
  package func erasable(_ object: ObjectID) throws(AnnalsError) -> ObjectReference {
    try AnnalsError.translating { try refresh() }
    let version = head.published
    let state = version.state
    guard object.store == version.store, object.row >= 1,
      object.row < state.nextRow(of: object.entity),
      state.schema.entity(numbered: object.entity) != nil
    else { throw .objectNotFound(object, in: state.schema, of: version.store) }
    return ObjectReference(object)
  }

  /// Records the erasure, with all that is derived from it, and carries it out. As `Store.erase`.
  package func erase(
    _ erasure: Erasure, author: String?
  ) throws(AnnalsError) -> ErasureSummary {
    try requireMakeable(erasure)
    try requireOwnOrder()
    // What is going to fail records nothing, and no other rewrite comes between the transaction and
    // the one that carries it out.
    let claim = try claimErasure()
    defer { claim.release() }
    return try AnnalsError.translating {
      var whole = erasure
      let token = try commit(.ofErasure(author)) { whole = try extend(erasure, in: $0) }.token
      let summary: ErasureSummary
      do {
        summary = try writeAlone { try $0.carryOut(whole, token, claim) }
      } catch {
        var error = AnnalsError.translated(error)
        error.message += error.message.hasSuffix(".") ? "" : "."
        error.message +=
          " Transaction \(token.number) says what is to be erased, and the file still has the "
          + "values: erase it again"
        throw error
      }
      if whole.targets != erasure.targets { try deriveAgain(whole, author) }
      return summary
    }
  }

  /// Computes the derived values that were erased with others, of what is left; records nothing if
  /// there are none. If it throws, they stay erased until something else changes, and the error
  /// says that the erasure was carried out.
  private func deriveAgain(_ erasure: Erasure, _ author: String?) throws {
    let derivations = Derivations(newest.state.schema)
    do {
      _ = try commit(TransactionOrigin(author: author, context: "erase")) {
        try $0.draft.derive(derivations, again: erasure)
      }
    } catch {
      var error = AnnalsError.translated(error)
      error.message =
        "the values are erased; what was derived from them could not be computed again of what is "
        + "left, and stays erased until an object that it is derived from changes: \(error.message)"
      throw error
    }
  }

  /// Rewrites the file without the values that the transaction at `token` has erased.
  func carryOut(
    _ erasure: Erasure, _ token: Token, _ claim: RewriteClaim
  ) throws -> ErasureSummary {
    let version = newest
    let base = version.view.base
    var plan = RewritePlan(base: .keep, checkpoint: false, destination: .replace)
    plan.decodesState = true
    plan.clock = now
    var lengths: [HistoryErasure.List: Int] = [:]
    if version.view.file.header.baseCheckpointOffset != 0 {
      let state = try version.stateForRewrite(at: base).state
      for target in erasure.targets {
        let object = target.object
        for relationship in state.schema.entity(numbered: object.entity)?.relationships ?? [] {
          let length = try state.listLength(object.entity, object.row, relationship.number)
          if length > 0 { lengths[.init(object, relationship.number)] = length }
        }
      }
      plan.base = try version.base(of: state, erasing: erasure)
    }
    plan.erasure = HistoryErasure(erasure, through: token.number, lengths: lengths)
    let report = try log.rewrite(plan, of: version.view, under: claim).putInPlace()
    guard report.outcome == .done else {
      throw AnnalsError.conflict("the file was written to meanwhile by another process")
    }
    // The erasure is done and durable. If the new file cannot be read now, the next call tries
    // again.
    try? reload()
    try? renewCheckpoint(saving: [])
    return ErasureSummary(
      token: token, bytesBefore: report.bytesBefore,
      bytesAfter: max(report.bytesAfter, log.view.end))
  }
}

extension StoreVersion {
  /// The base of the file, without erased values.
  fileprivate func base(of state: State, erasing erasure: Erasure) throws -> RewritePlan.Base {
    let number = view.base
    let timestamp = view.file.header.baseTimestamp
    return .at(number: number, timestamp: timestamp, prunedAt: nil, prunedBy: "") { chunks in
      var image = state
      for target in erasure.targets { try image.erase(target) }
      for entity in Set(erasure.targets.map(\.object.entity)) {
        try image.remakeIndexes(of: entity)
      }
      return try image.writeBase(to: chunks, of: LogChunkSource(self.view.file))
    }
  }
}

extension Entity {
  /// The property of this name; if there is none, those of the name that were removed.
  package func erasableProperties(named name: String) -> [PropertyNumber] {
    if let number = propertyNumber(named: name) { return [number] }
    return removedProperties(named: name)
  }
}
