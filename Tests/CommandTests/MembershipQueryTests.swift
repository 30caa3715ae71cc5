import Annals
import AnnalsExchange
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals query --where` on the objects of to-many relationships.
@Suite struct MembershipQueryTests {
  private static let schema = Schema {
    Entity("Tag") { Attribute("id", .string, isUnique: true) }
    Entity("Post") {
      Attribute("id", .string, isUnique: true)
      Relationship("tags", to: "Tag", isToMany: true)
    }
  }

  private func posts() throws -> CommandFolder {
    let folder = try CommandFolder()
    let store = try Store(
      path: folder.file("posts.annals"), schema: Self.schema, environment: folder.store)
    try store.write { tx in
      let tags = try ["food", "wine"].map { try tx.insert("Tag", ["id": .string($0)]) }
      for (id, count) in [("a", 0), ("b", 1), ("c", 2)] {
        let list = tags.prefix(count).map { ObjectReference($0) }
        try tx.insert("Post", ["id": .string(id), "tags": .objects(list)])
      }
    }
    try store.close()
    return folder
  }

  private func found(_ folder: CommandFolder, _ condition: String) -> CommandRun {
    folder.run(
      "query", "@posts.annals", "Post", "--where", condition, "--properties", "id", "--format",
      "csv")
  }

  @Test func sortsByHowManyAreListed() throws {
    let folder = try posts()
    let run = folder.run(
      "query", "@posts.annals", "Post", "--sort", "-tags.@count", "--properties", "id", "--format",
      "csv")
    #expect(run.output == "id\nc\nb\na\n" && run.errors == "", "\(run)")
    let whole = folder.run("query", "@posts.annals", "Post", "--sort", "tags")
    #expect(whole.errors.contains("tags leads to several objects: write tags.@count"), "\(whole)")
  }

  @Test func findsWhatIsListed() throws {
    let folder = try posts()
    for (condition, ids) in [
      ("tags CONTAINS Tag#1", "b\nc\n"), ("tags CONTAINS Tag#2", "c\n"),
      ("NOT tags CONTAINS Tag#2", "a\nb\n"), ("ANY tags.id == 'food'", "b\nc\n"),
      ("ANY tags (id BEGINSWITH 'w' OR id == 'x')", "c\n"),
      ("NOT ANY tags.id LIKE '*'", "a\n"),
    ] {
      let run = found(folder, condition)
      #expect(run.output == "id\n" + ids && run.errors == "", "\(condition): \(run)")
    }
    let plan = folder.run(
      "query", "@posts.annals", "Post", "--where", "tags CONTAINS Tag#1", "--explain")
    #expect(plan.output.hasPrefix("reads all 3 objects\neach is asked: tags CONTAINS 1#1\n"))
  }

  @Test func pointsAtWhatIsWrong() throws {
    let folder = try posts()
    for (condition, reason) in [
      ("tags == Tag#1", "column 6: tags is to-many: write tags CONTAINS Tag#5, or ANY tags.id"),
      ("tags CONTAINS Post#1", "column 15: tags leads to Tag, not to Post"),
      ("ANY id == 'x'", "column 5: id of Post is an attribute: ANY asks a to-many relationship"),
      ("ANY tag.id == 'x'", "column 5: Post has no property \"tag\"; did you mean tags?"),
    ] {
      let run = found(folder, condition)
      #expect(run.status == .usage && run.errors.contains(reason), "\(condition): \(run)")
    }
  }

  @Test func noIndexHasSuchACondition() throws {
    let folder = try posts()
    let run = folder.run(
      "index", "@posts.annals", "add", "Post", "some", "--where", "ANY tags.id == 'food'", "--",
      "id")
    #expect(run.status != .done && run.errors.contains("tags is asked for its objects"), "\(run)")
    #expect(folder.run("verify", "@posts.annals").status == .done)
  }
}
