import Annals
import AnnalsEngine
import AnnalsModel

extension Replica {
  /// The newest state of this replica, once it has come as far as a position: so who has written
  /// through one replica, and reads from another, finds what was written.
  ///
  /// The position is the token that `commit` returned there. If this replica's file has it, this is
  /// `store.snapshot()`; if not, this catches up with the log first.
  ///
  /// - Throws: as `catchUp()`, if it has to ask the log: `.unavailable` for one that is not reached
  ///   by the deadline. `AnnalsError.otherStore` and `.lostBranch` for a position that is not in
  ///   this history, `.beyondHead` if the log has not come so far either.
  public func snapshot(notBefore position: Token) async throws -> Snapshot {
    try requireOpen()
    let known = store.version
    if position.store == known.store, known.token.number < position.number { try await catchUp() }
    do throws(AnnalsError) {
      try store.version.validate(position)
    } catch {
      // It is behind what this file begins with.
      guard error.code == .pruned else { throw error }
    }
    return store.snapshot()
  }
}
