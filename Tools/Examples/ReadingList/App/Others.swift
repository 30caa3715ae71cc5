import Annals
import Foundation
import ReadingList

/// What others write: a notice for each of their transactions, and the place up to which the app
/// has seen them, kept from one launch to the next.
final class Others: Sendable {
  private let store: Store
  private let place: URL
  private let lock = NSLock()

  /// The others who write to a store; what was seen of them is kept in a small file of its own.
  init(of store: Store, savedAt path: String) {
    self.store = store
    place = URL(fileURLWithPath: path)
  }

  /// The position that was seen last; nil if the app was never there, or it is unreadable.
  private var seen: Token? {
    (try? String(contentsOf: place, encoding: .utf8)).flatMap { Token($0) }
  }

  /// Saves a position, unless one behind it was saved already.
  private func save(_ token: Token) throws {
    try lock.withLock {
      if let seen, seen > token { return }
      try Data(token.description.utf8).write(to: place, options: .atomic)
    }
  }

  /// Says what was written while the app was not running.
  func sayWhatCameMeanwhile() throws {
    let seen = seen
    do {
      try store.history(after: seen, where: .author != Author.app).forEach(notice)
    } catch let error as AnnalsError
      where [.pruned, .lostBranch, .beyondHead, .otherStore].contains(error.code)
    {
      // The place is not of this history any more: the list itself says all there is.
      say("notice: history was forgotten")
      try FileManager.default.removeItem(at: place)
    }
    try save(store.token)
  }

  /// Goes on with what is written from now on, whoever does it.
  func follow() {
    let start = seen
    Task.detached { [self] in
      do {
        for try await transaction in try store.changes(after: start, where: .author != Author.app) {
          notice(transaction)
          try save(transaction.token)
        }
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

  /// Drops the history that the app has seen: nobody else reads it. The articles stay.
  func forgetWhatWasSeen() throws {
    try save(store.token)
    try store.prune(store.prunePlan(before: store.token), author: Author.app)
  }
}
