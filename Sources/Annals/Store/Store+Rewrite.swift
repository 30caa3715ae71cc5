import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// What a rewrite of the file did.
public struct RewriteSummary: Sendable {
  /// The size of the file before, in bytes.
  public let bytesBefore: UInt64
  /// The size of the file after, in bytes; the same as before if nothing could be gained.
  public let bytesAfter: UInt64
  /// Whether the file was rewritten; false if nothing could be gained.
  public let isRewritten: Bool
}

extension Store {
  /// Drops the history that the plan names and gives its space back, by writing the file anew.
  ///
  /// The new file takes the old one's place only when it is complete and synced; a crash at any
  /// point leaves one or the other, whole. Other commits go on meanwhile but for the last moment.
  /// Throws `.conflict` if the floor has moved since the plan was made; `.blocked` if blocking
  /// consumers whose leases run have not seen all that would go, unless `force` says that they are
  /// to lose it: then they get `.pruned` where they read on.
  ///
  /// The projections that are registered are brought level and saved first, so that those that need
  /// the whole history go on from there; throws, with nothing changed, if one of them fails. A
  /// program that has not registered them drops the history that such a one is made of, and keeps
  /// only what was saved as of the new base or later.
  @discardableResult
  public func prune(
    _ plan: PrunePlan, author: String? = nil, force: Bool = false
  ) throws(AnnalsError) -> RewriteSummary {
    // Another process may have pruned since.
    try refresh()
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
    return try rewrite(RewritePlan(base: base, checkpoint: true, destination: .replace)) {
      // Another process may have registered one meanwhile.
      if !force { try self.requireSeen(before: plan.floor) }
    }
  }

  /// Throws `.blocked` if blocking consumers have not seen all transactions before this one.
  private func requireSeen(before floor: Int64) throws(AnnalsError) {
    let blockers = consumers.filter { $0.blocks(floor: floor) }
    if blockers.isEmpty { return }
    throw .blocked(blockers.map(\.name), blockers.map(\.text), floor: floor)
  }

  /// Writes the file anew, smaller, losing nothing: history in sealed blocks, the base, the newest
  /// checkpoint. Does nothing if nothing can be gained.
  ///
  /// What can be made anew from the base and the history need not be readable: damage there is gone
  /// afterwards. With `smallest` the checkpoint is left out: the smallest file, which opens more
  /// slowly. Without it, if more than 5,000 changes lie behind the newest checkpoint, as in a
  /// smallest file, one of the newest state is written first: only then may the file grow. Saved
  /// states of projections go with the checkpoint: throws `.unsupported` if `smallest` would take
  /// one that is registered and cannot be made anew, as history is pruned.
  @discardableResult
  public func compact(smallest: Bool = false) throws(AnnalsError) -> RewriteSummary {
    let before = version.view.end
    if smallest { try projections.requireMakeable(in: version, for: "the smallest file") }
    if !smallest {
      let images = projections.imagesOfAll()
      try AnnalsError.narrowing {
        try writer.writeAlone { try $0.renewCheckpoint(saving: images) }
      }
    }
    let summary = try rewrite(
      RewritePlan(base: .keep, checkpoint: !smallest, destination: .replace))
    return RewriteSummary(
      bytesBefore: before, bytesAfter: summary.isRewritten ? summary.bytesAfter : version.view.end,
      isRewritten: summary.isRewritten)
  }

  /// Writes a new store whose newest state is that as of a position, with a UUID of its own.
  ///
  /// With `flatten` the history is left out and only the state kept. The new file is verified as a
  /// file before it is put in its place, which costs reading it twice. Throws `.damaged`, with the
  /// place in this store's file, if what would be in it is not sound; nothing is left of it. Throws
  /// `.alreadyExists` if there is a file at `path`; it is left alone. Throws `.outcomeUnknown` if
  /// the directory could neither be synced with the new file nor without it: then it is there,
  /// whole, or not.
  public func replay(
    to path: String, at position: any HistoryPosition, flatten: Bool = false
  ) throws(AnnalsError) {
    let version = version
    let number = try version.number(at: position.historyPlace)
    let store = environment.makeUUID()
    let base: RewritePlan.Base =
      flatten ? try version.baseChoice(at: number, prunedAt: nil, prunedBy: nil) : .keep
    var plan = RewritePlan(
      base: base, through: number, checkpoint: true,
      destination: .new(path: path, store: store, created: environment.clock()))
    plan.check = { new, old in try Store.requireSound(new, copiedFrom: old) }
    _ = try rewrite(plan)
  }

  /// Throws `.damaged` if a verification of a new file finds anything but what is worth knowing:
  /// with the first error of the file that it was copied from, and its place there. Costs reading
  /// the new file twice.
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

  /// Writes the file anew. `check` is called under the lock, before the new file takes the old
  /// one's place; what it throws ends that.
  private func rewrite(
    _ wanted: RewritePlan, check: () throws -> Void = {}
  ) throws(AnnalsError) -> RewriteSummary {
    var plan = wanted
    plan.decodesState = true
    plan.clock = environment.clock
    // A feature is announced once in the life of a file: the second try meets no other.
    for _ in 0..<2 {
      let report = try rewriteOnce(plan, check)
      guard report.outcome != .overtaken else { continue }
      return RewriteSummary(
        bytesBefore: report.bytesBefore, bytesAfter: report.bytesAfter,
        isRewritten: report.outcome == .done)
    }
    throw AnnalsError(
      .busy, "another process goes on changing what the store has; nothing was changed, try again")
  }

  private func rewriteOnce(
    _ plan: RewritePlan, _ check: () throws -> Void
  ) throws(AnnalsError) -> RewriteReport {
    do {
      let generation = writer.log.view.file
      let rewriter = try writer.log.rewrite(plan)
      try rewriter.copy()
      let report: RewriteReport
      if case .replace = plan.destination {
        report = try writer.writeAlone { writer in
          guard writer.log.view.file === generation else {
            throw AnnalsError.conflict(
              "another process has written the file anew meanwhile; nothing was changed, try again")
          }
          try check()
          let report = try rewriter.putInPlace()
          // What was asked for is done and durable. If the new file cannot be read now, whoever
          // comes next tries again, and learns why not.
          if report.outcome == .done { try? writer.reload() }
          if report.outcome != .overtaken {
            writer.bareHead = plan.checkpoint ? nil : writer.newest.head.number
          }
          return report
        }
      } else {
        report = try rewriter.putInPlace()
      }
      return report
    } catch let error as AnnalsError {
      throw error
    } catch let error as LogError {
      throw AnnalsError(error)
    } catch {
      throw AnnalsError(.io, "the file cannot be rewritten: \(error)")
    }
  }
}

extension StoreVersion {
  /// The base of a rewrite: the state as of a transaction.
  fileprivate func baseChoice(
    at number: Int64, prunedAt: Timestamp?, prunedBy: String?
  ) throws(AnnalsError) -> RewritePlan.Base {
    let state = try stateForRewrite(at: number)
    try state.requireDistinctKeys(asOf: number)
    let position: LogPosition
    do throws(LogError) {
      position = try view.position(of: number)
    } catch {
      throw AnnalsError(error)
    }
    return .at(
      number: number, timestamp: position.maximumTimestamp, prunedAt: prunedAt,
      prunedBy: prunedBy ?? ""
    ) { chunks in
      // A state of its own: the chunks written here belong to the new file.
      var image = state
      image.dropRemoved()
      // Writing leaves the values as they are, and forgets nothing.
      let values = image
      let source = LogChunkSource(self.view.file)
      let entities = try image.writeChunks(to: chunks, of: source)
      return BaseImage(
        schema: image.schema, entities: entities, blobs: try values.largeValues().keys.sorted())
    }
  }
}

extension StoreVersion {
  /// The state as of a transaction, which can be read to the last chunk unless the base or the
  /// history is damaged: from these it is made if the checkpoints do not hold.
  func stateForRewrite(at number: Int64) throws(AnnalsError) -> State {
    try AnnalsError.narrowing {
      let places = [view.head.number, number]
      if try places.allSatisfy({ try view.holdsCheckpoint(atOrBefore: $0) }) {
        let usesBase = try places.contains {
          try view.checkpoint(atOrBefore: $0)?.isBase == true
        }
        if usesBase { try view.requireBaseState() }
        return try state(at: number)
      }
      try view.requireBaseState()
      return try stateByReplaying(from: try view.baseDirectory(), to: number)
    }
  }
}
