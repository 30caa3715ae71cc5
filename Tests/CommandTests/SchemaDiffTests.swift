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
        ~ Note/a  name: "Fog" → "Dew", old: "x" → none, rank: 7 → 8
        ~ Note/b  old: "y" → none
        + Note/c
            name: "Rain"
            rank: 7

        """)
    #expect(all.errors == "" && all.status == .done)
    #expect(
      folder.run("diff", "@n.annals", "2", "3").output == """
        ~ Note/a  old: "x" → none
        ~ Note/b  old: "y" → none

        """)
    #expect(folder.run("diff", "@n.annals", "3", "4").output == "")
    #expect(
      folder.run("diff", "@n.annals", "1", "4").output == """
        ~ Note/a  old: "x" → none
        + Note/b
            name: "Mist"

        """)
    #expect(
      folder.run("diff", "@n.annals", "5", "2").output == """
        ~ Note/a  name: "Dew" → "Fog", old: none → "x", rank: 8 → 7
        ~ Note/b  old: none → "y"
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

  @Test func aDeleteShowsOnlyWhatTheObjectVisiblyHad() throws {
    let folder = try notes()
    folder.run("delete", "@n.annals", "Note/b", "--author", "Ann")
    let shown = folder.run("show", "@n.annals", "6").output
    #expect(
      shown.split(separator: "\n").dropFirst() == [
        "    - Note/b", "        name: \"Mist\"",
      ])
    let lines = folder.run("log", "@n.annals", "--limit", "1", "--format", "jsonl").output
    #expect(lines.contains(#""was":{"name":"Mist"}"#), "\(lines)")
    #expect(
      folder.run("diff", "@n.annals", "5", "6").output == """
        - Note/b
            name: "Mist"

        """)
    let store = try Store(path: folder.file("n.annals"), environment: folder.store)
    let change = try store.transaction(6).changes[0]
    #expect(change.changedProperties == ["id", "name"])
    #expect(change.before("old").isNull)
    // States from before the removal have it still, the ones behind it do not get it back.
    #expect(try store.snapshot(at: 2).objects(of: "Note").map { $0["old"] } == ["x", "y"])
    try store.revert(6)
    #expect(try store.transaction(7).changes[0].changedProperties == ["id", "name"])
    try store.revert(5)
    #expect(try store.snapshot().objects(of: "Note").map { $0["name"] } == ["Fog", "Mist"])
    #expect(try store.snapshot(at: 2).objects(of: "Note").map { $0["old"] } == ["x", "y"])
    // Undoing what wrote only the property that is gone changes nothing.
    let head = store.token
    #expect(try store.verifyHistory() == [])
    #expect(store.token == head)
    try store.close()
  }

  @Test func aRequiredRelationshipIsShownAndKept() throws {
    let folder = try CommandFolder()
    func schema(_ optional: String) -> String {
      ##"{"entities":[{"name":"Line","attributes":[{"name":"id","type":"string","unique":true}]},"##
        + ##"{"name":"Stop","attributes":[{"name":"id","type":"string","unique":true}],"##
        + ##""relationships":[{"name":"line","to":"Line"\##(optional)}]}]}"##
    }
    try folder.write(schema(""), to: "loose")
    try folder.write(schema(##","optional":false"##), to: "strict")
    try folder.write(##"{"changes":[{"op":"insert","entity":"Line","id":"red"}]}"##, to: "line")
    folder.run("import", "@s.annals", "@line", "--schema", "@loose")
    folder.run("put", "@s.annals", "Stop/a", "line=Line/red", "--author", "me")
    let store = try Store(path: folder.file("s.annals"), environment: folder.store)
    try store.require(
      Schema {
        Entity("Line")
        Entity("Stop") { Relationship("line", to: "Line", isOptional: false) }
      })
    try store.close()
    let put = folder.run("put", "@s.annals", "Stop/b", "--author", "me")
    #expect(put.status == .couldNotRun)
    #expect(
      put.errors.contains("Stop/b.line: a value is required; give it one, or declare it optional"),
      "\(put.errors)")
    #expect(folder.run("put", "@s.annals", "Stop/a", "line:=null").status == .couldNotRun)
    let log = folder.run("log", "@s.annals").output
    #expect(log.contains("~ line: Line (required), was Line"), "\(log)")
    let printed = folder.schema("@s.annals")
    #expect(printed.contains(##""to":"Line","optional":false"##), "\(printed)")
    #expect(folder.run("verify", "@s.annals").status == .done)
    let bytes = folder.run("dump", "@s.annals", "--bytes").output
    #expect(bytes.contains("1, every object has one"))
    folder.run("import", "@t.annals", "@line", "--schema", "@strict")
    #expect(folder.schema("@t.annals").contains(##""optional":false"##))
  }
}
