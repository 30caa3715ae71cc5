import Annals
import Foundation

/// An article to read later.
public struct Article: Record {
  /// Where it is. Two processes that save one address save one article.
  public var url: URL
  /// What it is called; the extension's share sheet asks for it.
  public var title: String?
  /// What the user thinks of it; edited in the app.
  public var note: String?
  /// Whether it was read.
  public var isRead: Bool
  /// When it was saved.
  public var saved: Date

  /// How it is stored.
  public static let entity = RecordEntity(
    "Article", Article.init,
    Property("url", \.url).unique().preservedAfterDeletion(),
    Property("title", \.title).displayName().length(...80),
    Property("note", \.note),
    Property("isRead", \.isRead),
    Property("saved", \.saved).indexed(.descending))

  /// An article that was just saved.
  public init(
    url: URL, title: String?, note: String? = nil, isRead: Bool = false, saved: Date = .now
  ) {
    self.url = url
    self.title = title
    self.note = note
    self.isRead = isRead
    self.saved = saved
  }
}

/// Who writes: the author of each transaction, by which a process tells its own from the others'.
public enum Author {
  /// The app.
  public static let app = "app"
  /// The extension in other apps' share sheets.
  public static let shareExtension = "share extension"
}

extension Store {
  /// The reading list at a path that the app and its extension both know: on Apple's systems, in
  /// the container of their app group. Whoever comes first makes it.
  public static func readingList(at path: String) throws -> Store {
    try Store(path: path, records: Article.self)
  }
}

/// Prints a line at once, from any thread.
public func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
