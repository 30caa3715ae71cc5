import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// The result of a rewrite of the file.
public struct RewriteSummary: Sendable {
  /// The size of the file before, in bytes.
  public let bytesBefore: UInt64
  /// The size of the file after, in bytes; the same as before if nothing was gained.
  public let bytesAfter: UInt64
  /// Whether the file was rewritten; false if nothing would have been gained.
  public let isRewritten: Bool
}

extension Store {
  /// Drops the history that the plan names and frees its space, by rewriting the file.
  ///
  /// The new file replaces the old one only when it is complete and synced; a crash at any point
  /// leaves one of them, whole. Other commits go on meanwhile, except at the last moment. Throws
  /// `.conflict` if the floor has moved since the plan was made; `.blocked` if blocking consumers
  /// with running leases have not read everything that would be dropped. With `force` they lose it,
  /// and get `.pruned` when they read on.
  ///
  /// Waits for another process that rewrites the file as long as `lockTimeout` says, then throws
  /// `.busy`.
  ///
  /// Registered projections are brought up to date and saved first, so that those that need the
  /// whole history can go on; throws, with nothing changed, if one of them fails. A program that
  /// has not registered such a projection drops its history too, and keeps only what was saved as
  /// of the new base or later.
  @discardableResult
  public func prune(
    _ plan: PrunePlan, author: String? = nil, force: Bool = false
  ) throws(AnnalsError) -> RewriteSummary {
    try rewriting { claim throws(AnnalsError) in
      try prune(plan, author: author, force: force, under: claim)
    }
  }

  private func prune(
    _ plan: PrunePlan, author: String?, force: Bool, under claim: RewriteClaim
  ) throws(AnnalsError) -> RewriteSummary? {
    let version = version
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
    let images = try projections.imagesOfAllOrThrow()
    if !images.isEmpty {
      try AnnalsError.narrowing { try writer.writeAlone { try $0.checkpoint(saving: images) } }
    }
    let base = try version.baseChoice(
      at: plan.floor - 1, prunedAt: environment.clock(), prunedBy: author)
    return try rewrite(
      RewritePlan(base: base, checkpoint: true, destination: .replace), of: writer.log.view,
      under: claim
    ) {
      // Another process may have registered a consumer meanwhile.
      if !force { try self.requireSeen(before: plan.floor) }
    }
  }

  /// Throws `.blocked` if blocking consumers have not read all transactions before this one.
  private func requireSeen(before floor: Int64) throws(AnnalsError) {
    let blockers = consumers.filter { $0.blocks(floor: floor) }
    if blockers.isEmpty { return }
    throw .blocked(blockers.map(\.name), blockers.map(\.text), floor: floor)
  }

  /// Rewrites the file to make it smaller, without losing anything: history in sealed blocks, the
  /// base, the newest checkpoint. Does nothing if nothing would be gained.
  ///
  /// Data that can be rebuilt from the base and the history need not be readable: damage there is
  /// repaired. With `smallest` the checkpoint is left out: the smallest file, which opens more
  /// slowly. Without it, if more than 5,000 changes follow the newest checkpoint, as in a smallest
  /// file, a checkpoint of the newest state is written first; only then may the file grow. Saved
  /// states of projections belong to the checkpoint: throws `.unsupported` if `smallest` would drop
  /// one that is registered and cannot be rebuilt because history was pruned. Waits for another
  /// process that rewrites the file as long as `lockTimeout` says, then throws `.busy`.
  @discardableResult
  public func compact(smallest: Bool = false) throws(AnnalsError) -> RewriteSummary {
    try rewriting { claim throws(AnnalsError) in try compact(smallest: smallest, under: claim) }
  }

  private func compact(
    smallest: Bool, under claim: RewriteClaim
  ) throws(AnnalsError) -> RewriteSummary? {
    let before = version.view.end
    if smallest { try projections.requireMakeable(in: version, for: "the smallest file") }
    if !smallest {
      let images = projections.imagesOfAll()
      try AnnalsError.narrowing {
        try writer.writeAlone { try $0.renewCheckpoint(saving: images) }
      }
    }
    let plan = RewritePlan(base: .keep, checkpoint: !smallest, destination: .replace)
    guard let summary = try rewrite(plan, of: writer.log.view, under: claim) else { return nil }
    return RewriteSummary(
      bytesBefore: before, bytesAfter: summary.isRewritten ? summary.bytesAfter : version.view.end,
      isRewritten: summary.isRewritten)
  }

  /// Writes a new store whose newest state is that at a position, with a UUID of its own. The file
  /// has the mode of this one, and its owner if the process may set it.
  ///
  /// With `flatten` the history is left out and only the state kept. The new file is verified as a
  /// file before it is put in place, which reads it twice. Throws `.damaged`, with the offset in
  /// this store's file, if the content would be damaged; then nothing is left. Throws
  /// `.alreadyExists` if a file exists at `path`, which is not touched. Throws `.outcomeUnknown` if
  /// the directory could be synced neither with the new file nor without it: the whole file may or
  /// may not be there.
  public func replay(
    to path: String, at position: any HistoryPosition, flatten: Bool = false
  ) throws(AnnalsError) {
    let version = version
    let number = try number(at: position, in: version)
    let store = environment.makeUUID()
    let base: RewritePlan.Base =
      flatten ? try version.baseChoice(at: number, prunedAt: nil, prunedBy: nil) : .keep
    var plan = RewritePlan(
      base: base, through: number, checkpoint: true,
      destination: .new(path: path, store: store, created: environment.clock()))
    plan.check = { new, old in try Store.requireSound(new, copiedFrom: old) }
    _ = try rewrite(plan, of: version.view, under: nil)
  }

  /// Throws `.damaged` if verifying a new file finds an error: with the first one's offset in the
  /// file that it was copied from. Reads the new file twice.
  static func requireSound(
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

  /// Claims the right to replace the file, and catches up: what `version` is from here on, no other
  /// rewrite replaces. Waits for another rewrite until the deadline, then throws `.busy`.
  func claimRewrite(
    until deadline: ContinuousClock.Instant
  ) throws(AnnalsError) -> RewriteClaim {
    try writer.requireOutside()
    while true {
      // Whatever keeps the store from it, claiming or catching up says.
      try? refresh()
      let claim: RewriteClaim
      do throws(LogError) {
        claim = try writer.log.claimRewrite()
      } catch .busy where ContinuousClock.now < deadline {
        writer.log.awaitRewrite(until: deadline)
        continue
      } catch {
        throw AnnalsError(error)
      }
      try refresh()
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
    plan.clock = environment.clock
    let report = try AnnalsError.narrowing {
      let rewriter = try writer.log.rewrite(plan, of: view, under: claim)
      try rewriter.copy()
      guard claim != nil else { return try rewriter.putInPlace() }
      return try writer.writeAlone { writer in
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

extension StoreVersion {
  /// The base of a rewrite: the state as of a transaction.
  fileprivate func baseChoice(
    at number: Int64, prunedAt: Timestamp?, prunedBy: String?
  ) throws(AnnalsError) -> RewritePlan.Base {
    let state = try stateForRewrite(at: number)
    try state.requireDistinctKeys(asOf: number)
    let position = try AnnalsError.translating { () throws(LogError) in
      try view.position(of: number)
    }
    return .at(
      number: number, timestamp: position.maximumTimestamp, prunedAt: prunedAt,
      prunedBy: prunedBy ?? ""
    ) { chunks in
      // A separate state: the chunks written here belong to the new file.
      var image = state
      image.dropRemoved()
      return try image.writeBase(to: chunks, of: LogChunkSource(self.view.file))
    }
  }
}

extension State {
  /// Writes the state as the base of a new file.
  func writeBase(to chunks: CheckpointWriter, of source: LogChunkSource) throws -> BaseImage {
    // Writing keeps the values and drops nothing.
    var image = self
    let entities = try image.writeChunks(to: chunks, of: source)
    return BaseImage(
      schema: schema, entities: entities, largeValues: try largeValues().keys.sorted())
  }
}

extension StoreVersion {
  /// The state as of a transaction, with every chunk readable unless the base or the history is
  /// damaged: rebuilt from these if a checkpoint is damaged.
  func stateForRewrite(at number: Int64) throws(AnnalsError) -> State {
    try AnnalsError.narrowing {
      let places = [view.head.number, number]
      if try places.allSatisfy({ try view.holdsCheckpoint(atOrBefore: $0) }) {
        let usesBase = try places.contains {
          try view.checkpoint(atOrBefore: $0)?.isBase == true
        }
        if usesBase { try view.requireBaseState() }
        // Here, since each of the copies that a rewrite makes would do it for itself.
        var past = try state(at: number)
        try AnnalsError.translating { () throws(StateFault) in try past.updateIndexes() }
        return past
      }
      try view.requireBaseState()
      return try stateByReplaying(from: try view.baseDirectory(), to: number)
    }
  }
}
