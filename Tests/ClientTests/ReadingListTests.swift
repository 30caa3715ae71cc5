import Annals
import AnnalsTestSupport
import Foundation
import Testing

/// The example of an app and its extension: two programs on one store.
@Suite(.deadline) struct ReadingListTests {
  private func onFolder(_ body: (URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try withExtendedLifetime(folder) { try body(folder.url) }
  }

  private func app(in folder: URL) throws -> BuiltProgram {
    try BuiltProgram("ReadingListApp", ["list.annals"], in: folder)
  }

  private func shareSheet(_ url: String, in folder: URL) throws -> BuiltProgram {
    try BuiltProgram("ReadingListExtension", ["list.annals", url], in: folder)
  }

  /// Has the extension give an article of the app's another title.
  private func retitle(_ title: String, beside app: BuiltProgram, in folder: URL) throws {
    let sheet = try shareSheet("https://a.example/", in: folder)
    sheet.expect("sheet: A fog")
    try sheet.type(title)
    #expect(sheet.finish() == 0)
    app.expect("list: \(title)")
  }

  @Test func theAppShowsWhatTheExtensionSaves() throws {
    try onFolder { folder in
      let app = try app(in: folder)
      app.expect("list: ")
      try app.type("add https://a.example/ A fog")
      app.expect("list: A fog")
      let sheet = try shareSheet("https://b.example/", in: folder)
      sheet.expect("sheet: a new article")
      try sheet.type("A mist")
      #expect(sheet.finish() == 0)
      app.expect("list: A mist, A fog", "notice: share extension saved https://b.example/")
      try app.type("quit")
      #expect(app.finish() == 0)
      // The app's own writes are no news to it.
      #expect(app.lines.filter { $0.hasPrefix("notice") }.count == 1)
    }
  }

  @Test func bothEditOneArticle() throws {
    try onFolder { folder in
      let app = try app(in: folder)
      try app.type("add https://a.example/ A fog")
      app.expect("list: A fog")
      try app.type("open https://a.example/")
      app.expect("editor: no note of A fog")
      // While the editor is open the extension gives the article another title.
      try retitle("A thick fog", beside: app, in: folder)
      try app.type("note for Sunday")
      app.expect("editor: for Sunday of A fog, edited")
      try app.type("save")
      app.expect("saved: for Sunday")
      // Deleted and edited: the edit wins here.
      try app.type("open https://a.example/")
      app.expect("editor: for Sunday of A thick fog")
      try app.type("delete https://a.example/")
      app.expect("list: ")
      try app.type("note for Monday")
      app.expect("editor: for Monday of A thick fog, edited")
      try app.type("save")
      app.expect("saved: for Monday")
      try app.type("quit")
      #expect(app.finish() == 0)
      let store = try Store(path: folder.appending(path: "list.annals").path)
      let articles = try store.snapshot().objects(of: "Article")
      #expect(articles.map { $0["title"] } == ["A thick fog"])
      #expect(articles.map { $0["note"] } == ["for Monday"])
      // What the app has seen is forgotten, and the articles are not.
      #expect(store.base.number == store.token.number - 1)
      try store.close()
    }
  }

  @Test func anEditorTakesBackCancelsAndSaysWhatIsWrong() throws {
    try onFolder { folder in
      let app = try app(in: folder)
      try app.type("add https://a.example/ A fog")
      app.expect("list: A fog")
      try app.type("open https://a.example/")
      app.expect("editor: no note of A fog")
      try app.type("title \(String(repeating: "long ", count: 20))")
      try app.type("note for Sunday")
      try app.type("save")
      let shown = String(repeating: "long ", count: 12) + "…"
      app.expect("not saved: Article/https://a.example/.title: \"\(shown)\" is longer than 80")
      // The extension saves the article, too: what it writes shows after a save or a cancel.
      try retitle("A mist", beside: app, in: folder)
      try app.type("undo")
      try app.type("undo")
      app.expect("editor: no note of A fog")
      try app.type("note for Monday")
      try app.type("cancel")
      app.expect("editor: no note of A mist")
      try app.type("title A storm")
      try app.type("save")
      app.expect("saved: no note", "list: A storm")
      try app.type("quit")
      #expect(app.finish() == 0)
    }
  }

  @Test func oneAddressSavedByBothIsOneArticle() throws {
    try onFolder { folder in
      let app = try app(in: folder)
      app.expect("list: ")
      let sheet = try shareSheet("https://a.example/", in: folder)
      sheet.expect("sheet: a new article")
      try app.type("add https://a.example/ The app's")
      app.expect("list: The app's")
      try sheet.type("The extension's")
      sheet.expect("kept: Article/https://a.example/")
      #expect(sheet.finish() == 0)
      try app.type("quit")
      #expect(app.finish() == 0)
      // What comes while the app is away is told at its next launch.
      let later = try shareSheet("https://b.example/", in: folder)
      try later.type("Later")
      #expect(later.finish() == 0)
      let again = try self.app(in: folder)
      again.expect(
        "notice: share extension saved https://b.example/", "list: Later, The app's")
      try again.type("quit")
      #expect(again.finish() == 0)
    }
  }
}
