import Annals
import Foundation
import ReadingList

/// What others write: a notice for each of their transactions. The store itself keeps how far the
/// app has seen them, from one launch to the next, and prunes nothing that it has not.
final class Others: Sendable {
  private let store: Store
  private let app: Consumer

  /// The others who write to a store.
  init(of store: Store) throws {
    self.store = store
    app = try store.consumer("app", kind: "app", blocking: true)
  }

  /// Says what was written while the app was not running.
  func sayWhatCameMeanwhile() throws {
    do {
      let unread = try app.unread(notBy: Author.app)
      try unread.forEach(notice)
      try app.advance(to: unread.end)
    } catch let error as AnnalsError
      where [.pruned, .lostBranch, .beyondHead].contains(error.code)
    {
      // Somebody forced a prune, or put an older file in place: the list itself says all there is.
      say("notice: history was forgotten")
      try app.advance(to: store.token, mayGoBack: true)
    }
  }

  /// Goes on with what is written from now on, whoever does it.
  func follow() -> Task<Void, Never> {
    Task.detached { [self] in
      do {
        for try await transaction in try store.changes(for: app, where: .author != Author.app) {
          notice(transaction)
          try app.advance(to: transaction.token)
        }
      } catch is CancellationError {
      } catch {
        say("notice: \(error)")
      }
    }
  }

  private func notice(_ transaction: Transaction) {
    for change in transaction.changes {
      let name = (try? change.after(\Article.url) ?? change.before(\Article.url))?.absoluteString
      let kind =
        switch change.kind {
        case .insert: "saved"
        case .update: "changed"
        case .delete: "deleted"
        }
      say("notice: \(transaction.author ?? "somebody") \(kind) \(name ?? "an article")")
    }
  }

  /// Drops the history that the app has seen. If somebody else still waits for it, it stays. The
  /// articles stay in any case.
  func forgetWhatWasSeen() throws {
    let token = store.token
    try app.advance(to: token)
    do throws(AnnalsError) {
      try store.prune(store.prunePlan(before: token), author: Author.app)
    } catch {
      guard error.code == .blocked else { throw error }
      say("notice: history is kept for \(error.blockers.joined(separator: ", "))")
    }
  }
}
