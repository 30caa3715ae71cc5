import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

// Rewrites of the file. What each does is said at `Store`.

extension StoreWriter {
  /// What the projections of this opening are asked; nil if there are none.
  var saving: (any ProjectionSaving)? { projections.withLock { $0 } }

  /// Writes a checkpoint with the states of the projections. As `Store.checkpoint`.
  package func checkpoint() throws(AnnalsError) {
    let images = saving?.imagesOfWorking() ?? []
    try AnnalsError.translating { try writeAlone { try $0.checkpoint(saving: images) } }
  }

  /// Drops the history that the plan names. As `Store.prune`.
  package func prune(
    _ plan: PrunePlan, author: String?, force: Bool
  ) throws(AnnalsError) -> RewriteSummary {
    try rewriting { claim throws(AnnalsError) in
      try prune(plan, author: author, force: force, under: claim)
    }
  }

  private func prune(
    _ plan: PrunePlan, author: String?, force: Bool, under claim: RewriteClaim
  ) throws(AnnalsError) -> RewriteSummary? {
    let version = head.published
    guard version.view.floor == plan.oldFloor else {
      throw .conflict(
        "the floor has moved from \(plan.oldFloor) to \(version.view.floor) since the plan was "
          + "made; make a new plan")
    }
    guard plan.floor > plan.oldFloor else {
      let size = version.view.end
      return RewriteSummary(bytesBefore: size, bytesAfter: size, isRewritten: false)
    }
    if !force { try requireSeen(before: plan.floor) }
    let images = try saving?.imagesOfAll() ?? []
    if !images.isEmpty {
      try AnnalsError.translating { try writeAlone { try $0.checkpoint(saving: images) } }
    }
    var rewriting = RewritePlan(base: .keep, checkpoint: true, destination: .replace)
    (rewriting.base, rewriting.decodedCheckpoint) = try version.baseChoice(
      at: plan.floor - 1, prunedAt: now(), prunedBy: author)
    return try rewrite(rewriting, of: log.view, under: claim) {
      // Another process may have registered a consumer meanwhile.
      if !force { try self.requireSeen(before: plan.floor) }
    }
  }

  /// Throws `.blocked` if blocking consumers have not read all transactions before this one.
  private func requireSeen(before floor: Int64) throws(AnnalsError) {
    if let refusal = blockers(ofFloor: floor).refusal(ofFloor: floor) { throw refusal }
  }

  /// Rewrites the file to make it smaller. As `Store.compact`.
  package func compact(smallest: Bool) throws(AnnalsError) -> RewriteSummary {
    try rewriting { claim throws(AnnalsError) in try compact(smallest: smallest, under: claim) }
  }

  private func compact(
    smallest: Bool, under claim: RewriteClaim
  ) throws(AnnalsError) -> RewriteSummary? {
    let before = head.published.view.end
    if smallest { try saving?.requireMakeable(head.published, "the smallest file") }
    if !smallest {
      let images = saving?.imagesOfWorking() ?? []
      try AnnalsError.translating { try writeAlone { try $0.renewCheckpoint(saving: images) } }
    }
    var plan = RewritePlan(base: .keep, checkpoint: !smallest, destination: .replace)
    plan.packing = smallest ? .smallest : .small
    guard let summary = try rewrite(plan, of: log.view, under: claim) else { return nil }
    return RewriteSummary(
      bytesBefore: before,
      bytesAfter: summary.isRewritten ? summary.bytesAfter : head.published.view.end,
      isRewritten: summary.isRewritten)
  }

  /// Writes a new store whose newest state is that after a transaction. As `Store.replay`.
  package func replay(
    _ version: StoreVersion, to path: String, at number: Int64, flatten: Bool, store: RawUUID
  ) throws(AnnalsError) {
    var plan = RewritePlan(
      base: .keep, through: number, checkpoint: true,
      destination: .new(path: path, store: store, created: now()))
    if flatten {
      (plan.base, plan.decodedCheckpoint) =
        try version.baseChoice(at: number, prunedAt: nil, prunedBy: nil)
    }
    plan.check = { new, old in try StoreWriter.requireSound(new, copiedFrom: old) }
    _ = try rewrite(plan, of: version.view, under: nil)
  }

  /// Throws `.damaged` if verifying a new file finds an error: with the first one's offset in the
  /// file that it was copied from. Reads the new file twice.
  package static func requireSound(
    _ file: any StorageFile, copiedFrom old: any StorageFile
  ) throws {
    var found: Finding?
    var verification = try PhysicalVerification(file)
    _ = try verification.run { if found == nil, $0.severity != .note { found = $0 } }
    guard var found else { return }
    var original: Finding?
    verification = try PhysicalVerification(old)
    _ = try verification.run { if original == nil, $0.severity == .error { original = $0 } }
    if let original { found = original }
    throw AnnalsError(
      .damaged,
      "the store is damaged: \(found.what). Nothing was written. Verify it to see what is "
        + "affected; restore a copy, or salvage everything readable into a new file",
      offset: original?.offset
    )
  }

  /// Rewrites the file by `body`, which makes everything it needs under the claim, from the newest
  /// version; again if `body` returns nil since others have changed what the store has.
  private func rewriting(
    _ body: (RewriteClaim) throws(AnnalsError) -> RewriteSummary?
  ) throws(AnnalsError) -> RewriteSummary {
    let deadline = ContinuousClock.now.advanced(by: options.lockTimeout)
    // Each feature is announced once in the life of a file, so few attempts are overtaken.
    var attempts = 0
    while attempts < 2 || ContinuousClock.now < deadline {
      let claim = try claimRewrite(until: deadline)
      defer { claim.release() }
      if let summary = try body(claim) { return summary }
      attempts += 1
    }
    throw AnnalsError(
      .busy, "another process goes on changing what the store has; nothing was changed, try again")
  }

  /// Claims the right to replace the file, and catches up: what is published from here on, no other
  /// rewrite replaces. Waits for another rewrite until the deadline, then throws `.busy`.
  func claimRewrite(
    until deadline: ContinuousClock.Instant
  ) throws(AnnalsError) -> RewriteClaim {
    try requireOutside()
    while true {
      // Whatever keeps the store from it, claiming or catching up says.
      try? refresh()
      let claim: RewriteClaim
      do throws(LogError) {
        claim = try log.claimRewrite()
      } catch .busy where ContinuousClock.now < deadline {
        log.awaitRewrite(until: deadline)
        continue
      } catch {
        throw AnnalsError(error)
      }
      try AnnalsError.translating { try refresh() }
      return claim
    }
  }

  /// Rewrites what `view` shows. Calls `check` under the lock, before the new file replaces the old
  /// one; an error of `check` ends the rewrite. Returns nil, with nothing changed, if the beginning
  /// of the new file has become outdated.
  private func rewrite(
    _ wanted: RewritePlan, of view: LogView, under claim: RewriteClaim?,
    check: () throws -> Void = {}
  ) throws(AnnalsError) -> RewriteSummary? {
    var plan = wanted
    plan.decodesState = true
    plan.clock = now
    let report = try AnnalsError.translating {
      let rewriter = try log.rewrite(plan, of: view, under: claim)
      try rewriter.copy()
      guard claim != nil else { return try rewriter.putInPlace() }
      return try writeAlone { writer in
        try check()
        let report = try rewriter.putInPlace()
        // The rewrite is done and durable. If the new file cannot be read now, the next call tries
        // again and throws the reason.
        if report.outcome == .done { try? writer.reload() }
        if report.outcome != .overtaken {
          writer.bareHead = plan.checkpoint ? nil : writer.newest.head.number
        }
        return report
      }
    }
    if report.outcome == .overtaken { return nil }
    return RewriteSummary(
      bytesBefore: report.bytesBefore, bytesAfter: report.bytesAfter,
      isRewritten: report.outcome == .done)
  }
}
