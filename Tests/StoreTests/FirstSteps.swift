import Annals
import AnnalsTestSupport
import Foundation
import Testing

struct Post: Record, Equatable {
  var identifier: UUID
  var timestamp: Date
  var title: String?
  static let entity = RecordEntity(
    "Post", Post.init,
    Property("identifier", \.identifier).unique().preservedAfterDeletion(),
    Property("timestamp", \.timestamp).indexed(.descending),
    Property("title", \.title))
}

@Suite struct FirstSteps {
  @Test func writesReadsAndTravels() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try Store(path: path, records: Post.self)
    let id = UUID()
    let first = try store.commit(author: "Safari", context: "share") { tx in
      try tx.insert(Post(identifier: id, timestamp: .now, title: "Fog"))
    }.token
    #expect(first.number == 2)
    try store.write(author: "me") { tx in
      let post = try #require(try tx.object(Post.self, where: \.identifier, is: id))
      try tx.update(post) { $0.title = "Misty Morning" }
    }
    #expect(try store.snapshot().objects(of: Post.self).map(\.value.title) == ["Misty Morning"])
    #expect(try store.snapshot(at: first).objects(of: Post.self).map(\.value.title) == ["Fog"])
    var seen: [String] = []
    try store.history(after: first, where: .author != "Safari" && .touches(\Post.title)).forEach {
      seen.append("\($0.author ?? "-") \($0.changes.count)")
      let before = try $0.changes[0].before(\Post.title)
      #expect(before == "Fog")
    }
    #expect(seen == ["me 1"])
    try store.close()
    let again = try Store(path: path, records: Post.self)
    #expect(try again.snapshot().objects(of: Post.self).map(\.value.title) == ["Misty Morning"])
    #expect(again.token.number == 3)
    #expect(try again.verifyHistory() == [])
    #expect(throws: AnnalsError.self) {
      try again.write { try $0.insert(Post(identifier: id, timestamp: .now)) }
    }
    try again.revert(3, author: "me")
    #expect(try again.snapshot().objects(of: Post.self).map(\.value.title) == ["Fog"])
    try again.close()
  }
}
