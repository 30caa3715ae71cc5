import AnnalsModel
import AnnalsStorage

/// The right to replace a store's file: no other rewrite runs while somebody holds it.
///
/// It is the locked unfinished file beside the store, which the rewriter then fills. Whatever a
/// rewrite is made from (base, plan, states of projections) is read under the claim, after catching
/// up; so it can never be older than what another rewrite left. Used by one thread at a time.
package final class RewriteClaim {
  private var temporary: TemporaryFile?

  fileprivate init(_ temporary: TemporaryFile) { self.temporary = temporary }

  deinit { release() }

  /// Passes the unfinished file on to the rewriter, which keeps the claim from here on.
  func passOn() -> TemporaryFile {
    guard let file = temporary.take() else { preconditionFailure("a claim is used once") }
    return file
  }

  /// Gives up the claim and removes the unfinished file, unless a rewriter has taken it.
  package func release() { temporary.take()?.discard() }
}

extension LogFile {
  /// Claims the right to replace the file; `awaitRewrite` waits while somebody else has it.
  ///
  /// Throws what a rewrite in place would throw before it copies anything: `closed`, `readOnly`,
  /// `hardLinked`, `busy` if another rewrite is running, `occupied` if another file has the
  /// unfinished file's name, `storage`. Writes and syncs one block.
  package func claimRewrite() throws(LogError) -> RewriteClaim {
    let known = try withOpenState { (state) throws(LogError) in
      Leftover.ExistingStore(header: state.generation.header, head: state.tables.head.number)
    }
    guard options.access == .writing else { throw .readOnly }
    try requireOneName()
    return RewriteClaim(try TemporaryFile(for: path, like: path, known: known, in: fileSystem))
  }

  /// Throws `hardLinked` if the file has other names, which a replacement would not reach.
  func requireOneName() throws(LogError) {
    let count = try wrapping { try fileSystem.linkCount(of: path) }
    guard count <= 1 else { throw .hardLinked(count) }
  }
}
