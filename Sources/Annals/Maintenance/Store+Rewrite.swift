import AnnalsModel

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
    try writer.prune(plan, author: author, force: force)
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
    try writer.compact(smallest: smallest)
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
    try writer.replay(
      version, to: path, at: number, flatten: flatten, store: environment.makeUUID())
  }

  /// What a prune before a position would drop: the transaction at the position is kept whole, and
  /// so is every state from just before it on.
  ///
  /// Reads the history that would be dropped, without values. Throws as
  /// `history(after:before:where:)` does.
  public func prunePlan(before position: any HistoryPosition) throws(AnnalsError) -> PrunePlan {
    let version = version
    let last = try version.number(before: position.historyPlace, environment.clock)
    return try writer.prunePlan(after: last, in: version)
  }
}
