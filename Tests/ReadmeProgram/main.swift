import Annals
import Foundation

struct Post: Record {
  var identifier: UUID
  var timestamp: Date
  var title: String?
  static let entity = RecordEntity(
    "Post", Post.init,  // name, memberwise initialiser, properties in its order
    Property("identifier", \.identifier).unique().preservedAfterDeletion(),
    Property("timestamp", \.timestamp).indexed(.descending),
    Property("title", \.title).displayName())
}

let store = try Store(path: "posts.annals", records: Post.self)  // creates, or adds to it
let fog = try store.write(author: "Safari", context: "share") { tx in
  try tx.insert(Post(identifier: UUID(), timestamp: .now, title: "Fog"))
}  // what the closure returns; `commit` returns it with the token
let token = store.snapshot().token
try store.write(author: "me") { tx in
  for post in try tx.objects(of: Post.self) { try tx.update(post) { $0.title = "Misty Morning" } }
}
for post in try store.snapshot().objects(of: Post.self) { print("now:", post.title ?? "") }
let past = try store.snapshot(at: token).object(Post.self, fog.objectID)
print("then:", past?.title ?? "")  // the past, same call
try store.history(after: token, where: .author != "Safari" && .touches(\Post.title)).forEach {
  for change in $0.changes {
    print($0.author ?? "-", "wrote over", try change.before(\Post.title) ?? "nothing")
  }
}
try store.close()
