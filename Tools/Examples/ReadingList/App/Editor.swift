import Annals
import Foundation
import ReadingList

/// An article being edited: what is typed is pending until it is saved. The user sees the article
/// as it was when the editor opened, however long that takes.
final class Editor {
  private let form: EditingContext
  private let article: EditableObject<Article>

  /// Opens the article of this address; nil if there is none.
  init?(_ url: URL, in store: Store) throws {
    form = try EditingContext(store, author: Author.app)
    guard let article = try form.object(Article.self, where: \.url, is: url) else {
      say("editor: no such article")
      return nil
    }
    self.article = article
    show()
  }

  /// Changes the article, and shows it.
  func edit(_ change: (EditableObject<Article>) -> Void) {
    change(article)
    show()
  }

  /// Takes the last edit back.
  func undo() throws {
    try form.undo()
    show()
  }

  /// Drops all edits, and shows the article as it is now.
  func cancel() {
    form.rollback()
    show()
  }

  /// Saves the edits. What the extension has written since stays, but for what the user has edited,
  /// too: the user's own hand counts for more. An article that was deleted meanwhile comes back,
  /// under its own id.
  func save() throws {
    let violations = try form.validate()
    guard violations.isEmpty else {
      for violation in violations { say("not saved: \(violation)") }
      return
    }
    let commit = try form.save(merging: .ownWins)
    say("saved: \(article.note ?? "no note")")
    for conflict in commit.conflicts { say("replaced: \(conflict)") }
  }

  private func show() {
    let title = article.title.map { " of \($0)" } ?? ""
    say("editor: \(article.note ?? "no note")\(title)\(form.hasChanges ? ", edited" : "")")
  }
}
