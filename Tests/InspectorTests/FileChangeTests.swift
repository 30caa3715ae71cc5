import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsInspector

/// What happens to a file while it is shown.
@Suite(.deadline) struct FileChangeTests {
  private let world: InspectorWorld

  init() throws { world = try InspectorWorld(transactions: 12) }

  /// The next events, as words; waits for them.
  private func next(_ changes: inout FileChanges) -> [String] {
    var found: [FileEvent] = []
    until {
      found = changes.next()
      return !found.isEmpty
    }
    return found.map { event in
      switch event {
      case .head(let head): "head \(head.head)"
      case .changed(let changed): changed.reason
      }
    }
  }

  @Test func commitsOfOthersArrive() throws {
    var changes = FileChanges(of: world.file)
    #expect(next(&changes) == ["head \(world.count)"])
    #expect(changes.next().isEmpty)
    try world.grow(by: 1, seed: 3)
    #expect(next(&changes) == ["head \(world.count)"])
    #expect(try world.ask().overview().head == Int64(world.count))
  }

  @Test func aRewriteIsTold() throws {
    var changes = FileChanges(of: world.file)
    _ = next(&changes)
    let old = try world.ask(["entity": "Post", "at": "9"]).table()
    try world.write { store in try store.compact() }
    #expect(next(&changes).first == "compacted")
    let new = try world.ask(["entity": "Post", "at": "9"]).table()
    #expect(old.rows.map(\.object) == new.rows.map(\.object))
    try world.write { store in try store.prune(store.prunePlan(before: 9)) }
    #expect(next(&changes).first == "pruned")
    #expect(try world.ask().overview().base == 8)
    let error = #expect(throws: AnnalsError.self) { try world.ask(["at": "3"]).overview() }
    #expect(error?.code == .pruned)
    #expect(try world.ask(["at": "base"]).overview().moment.number == 8)
    let life = try world.ask(["entity": "Post", "at": "base", "limit": "1"]).table().rows.first
    if let object = life?.object.id {
      #expect(try world.ask(["object": object]).life().versions.last?.base == true)
    }
  }

  @Test func anotherStoreIsTold() throws {
    var changes = FileChanges(of: world.file)
    _ = next(&changes)
    let other = try InspectorWorld(transactions: 3, seed: 9)
    try FileManager.default.removeItem(atPath: world.path)
    #expect(next(&changes) == ["missing"])
    try FileManager.default.copyItem(atPath: other.path, toPath: world.path)
    #expect(next(&changes).first == "readable")
    #expect(try world.ask().overview().head == Int64(other.count))
    let third = try InspectorWorld(transactions: 5, seed: 11)
    let new = world.folder.path("new")
    try FileManager.default.copyItem(atPath: third.path, toPath: new)
    #expect(rename(new, world.path) == 0)
    #expect(next(&changes).first == "replaced")
    #expect(try world.ask().overview().head == Int64(third.count))
  }

  @Test func aFolderListsItsStores() throws {
    let other = try InspectorWorld(transactions: 3, seed: 9)
    try FileManager.default.copyItem(
      atPath: other.path, toPath: world.folder.path("b.annals"))
    try Data("no store".utf8).write(to: world.folder.url("c.annals"))
    try Data("secret".utf8).write(to: world.folder.url("secret.txt"))
    let place = try InspectedPlace(path: world.folder.path)
    let document = try StoresAsking(place).stores()
    #expect(document.stores.map(\.name) == ["b.annals", "c.annals", "world.annals"])
    #expect(document.stores.map(\.head) == [Int64(other.count), nil, Int64(world.count)])
    #expect(document.stores[1].problem?.code == "notAnAnnalsFile")
    // What is no store cannot be salvaged.
    #expect(document.stores[1].problem?.remedy == nil)
    let inspector = try Inspector(path: world.folder.path)
    for (name, status) in [
      ("b.annals", 200), ("c.annals", 422), ("secret.txt", 404), ("..", 404), ("", 400),
      ("%2E%2E%2Fb.annals", 404), ("/etc/passwd", 404), ("./b.annals", 404),
    ] {
      let answer = inspector.answer(InspectorRequest("overview", query: "store=\(name)"))
      #expect(answer.status == status, "\(name)")
    }
  }
}
