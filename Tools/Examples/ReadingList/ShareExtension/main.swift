// The share extension: opens, saves one article, and is gone. It knows nothing of the app, which
// may be running or not.
//
//     ReadingListExtension FILE URL        and the title on standard input

import Annals
import Foundation
import ReadingList

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[2]) else {
  say("usage: ReadingListExtension FILE URL")
  exit(64)
}
let store = try Store.readingList(at: CommandLine.arguments[1])

// What the sheet shows while the user types. Meanwhile the app may write.
let seen = store.snapshot()
let known = try seen.object(Article.self, where: \.url, is: url)
say(known == nil ? "sheet: a new article" : "sheet: \(known?.title ?? "no title")")
let title = readLine() ?? ""

// What the user did was done to what the sheet showed. The app's own edits count for more: where
// it has changed the same, its value stays. If it has saved the same address meanwhile, the two
// become one article.
let commit = try store.commit(
  author: Author.shareExtension, basedOn: seen.token, merging: .storedWins
) { tx in
  if let known {
    try tx.set(\.title, of: known, to: title)
  } else {
    try tx.insert(Article(url: url, title: title))
  }
}
for conflict in commit.conflicts where conflict.property == "title" {
  say("kept: \(conflict.objectName)")
}
say("saved")
try store.close()
