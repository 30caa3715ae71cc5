import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// Differences between states with different schemas, byte for byte.
@Suite struct SchemaDiffTests {
  /// Transaction 3 renames title to name and removes old, 4 adds rank with a default, 5 changes a
  /// and inserts c.
  private func notes() throws -> CommandFolder {
    let folder = try CommandFolder()
    folder.run("put", "@n.annals", "Note/a", "title=Fog", "stars:=3", "old=x")
    folder.run("put", "@n.annals", "Note/b", "title=Mist", "old=y")
    let store = try Store(path: folder.file("n.annals"), environment: folder.store)
    try store.edit(
      .renameProperty(entity: "Note", "title", to: "name"),
      .removeProperty(entity: "Note", "old"))
    try store.require(
      Schema { Entity("Note") { Attribute("rank", .int64, isOptional: false, default: 7) } })
    try store.write(author: "Ann") { tx in
      let note = try #require(try tx.object(of: "Note", where: "id", is: "a"))
      try tx.update(note.objectID, ["name": "Dew", "rank": 8])
      try tx.insert("Note", ["id": "c", "name": "Rain"])
    }
    try store.close()
    return folder
  }

  @Test func addedRenamedAndRemovedProperties() throws {
    let folder = try notes()
    let all = folder.run("diff", "@n.annals", "2", "5")
    #expect(
      all.output == """
        ~ Note/a  name: "Fog" → "Dew", rank: 7 → 8
        + Note/c
            name: "Rain"
            rank: 7

        """)
    #expect(all.errors == "" && all.status == .done)
    #expect(folder.run("diff", "@n.annals", "2", "3").output == "")
    #expect(folder.run("diff", "@n.annals", "3", "4").output == "")
    #expect(
      folder.run("diff", "@n.annals", "1", "4").output == """
        + Note/b
            name: "Mist"

        """)
    #expect(
      folder.run("diff", "@n.annals", "5", "2").output == """
        ~ Note/a  name: "Dew" → "Fog", rank: 8 → 7
        - Note/c
            name: "Rain"
            rank: 7

        """)
    #expect(
      folder.run("diff", "@n.annals", "4", "5", "--format", "jsonl").output == """
        {"op":"update","entity":"Note","id":"a","set":{"name":"Dew","rank":8},\
        "was":{"name":"Fog","rank":7}}
        {"op":"insert","entity":"Note","id":"c","set":{"name":"Rain","rank":7}}

        """)
  }
}
