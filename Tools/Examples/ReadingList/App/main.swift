// The app: shows the list as it is now, whoever changes it, and edits articles.
//
//     ReadingListApp FILE
//
// Commands on standard input: `add URL TITLE`, `delete URL`, `quit`, and `open URL` to edit an
// article: `note TEXT`, `title TEXT`, `undo`, `cancel`, `save`.

import Annals
import Foundation
import ReadingList

guard CommandLine.arguments.count == 2 else {
  say("usage: ReadingListApp FILE")
  exit(64)
}
let store = try Store.readingList(at: CommandLine.arguments[1])
let others = try Others(of: store)
try others.sayWhatCameMeanwhile()
let notices = others.follow()

// The list: one update for each change, without asking, also for what the extension saves. Nothing
// runs in between.
let list = store.live(Fetch(Article.self).sorted(by: \.saved, .descending)).observe { update in
  switch update {
  case .success(let update):
    do {
      let titles = try update.rows.all().map { $0.title ?? $0.url.absoluteString }
      say("list: \(titles.joined(separator: ", "))")
    } catch {
      say("list: \(error)")
    }
  case .failure(let error): say("list: \(error)")
  }
}

var editor: Editor?
loop: while let line = readLine() {
  let words = line.split(separator: " ", maxSplits: 2).map(String.init)
  switch (words.first, words.count > 1 ? URL(string: words[1]) : nil) {
  case ("add", let url?):
    try store.write(author: Author.app) { tx in
      try tx.insert(Article(url: url, title: words.count > 2 ? words[2] : nil))
    }
  case ("open", let url?): editor = try Editor(url, in: store)
  case ("note", _): editor?.edit { $0.note = String(line.dropFirst(5)) }
  case ("title", _): editor?.edit { $0.title = String(line.dropFirst(6)) }
  case ("undo", _): try editor?.undo()
  case ("cancel", _): editor?.cancel()
  case ("save", _): try editor?.save()
  case ("delete", let url?):
    try store.write(author: Author.app) { tx in
      if let article = try tx.object(Article.self, where: \.url, is: url) {
        try tx.delete(article)
      }
    }
  case ("quit", _): break loop
  default: say("no such command: \(line)")
  }
}
list.cancel()
notices.cancel()
await notices.value
try others.forgetWhatWasSeen()
try store.close()
