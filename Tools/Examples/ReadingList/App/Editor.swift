import Annals
import Foundation
import ReadingList

/// An article being edited. The user sees it as it was when the editor opened, however long that
/// takes.
struct Editor {
  private let store: Store
  private let seen: Snapshot
  private let article: Object<Article>

  /// Opens the article of this address; nil if there is none.
  init?(_ url: URL, in store: Store) throws {
    self.store = store
    seen = store.snapshot()
    guard let article = try seen.object(Article.self, where: \.url, is: url) else {
      say("editor: no such article")
      return nil
    }
    self.article = article
    say("editor: \(article.note ?? "no note")")
  }

  /// Saves what the user wrote. What the extension has written since stays, but for the note
  /// itself: here the user's own hand counts for more. An article that was deleted meanwhile comes
  /// back, under its own id.
  func save(note: String) throws {
    var edited = article
    edited.note = note
    let commit = try store.commit(author: Author.app, basedOn: seen.token, merging: .ownWins) {
      try $0.save(edited)
    }
    say("saved: \(commit.value.note ?? "no note")")
    for conflict in commit.conflicts { say("replaced: \(conflict)") }
  }
}
