import Annals
import AnnalsExchange
import Foundation
import Testing

@testable import AnnalsCommand

@Suite struct ImportTests {
  /// Lines that stop an import, each behind one good line, and the reason given.
  static let badLines: [(String, String)] = [
    ("[]", "the line is not an object"), ("{}", "the line has no `changes`"),
    (#"{"n":2}"#, "the line has no `changes`"), (#"{"changes":{}}"#, "`changes` is not an array"),
    (#"{"changes":[],"changes":[]}"#, "the line has two members `changes`"),
    (
      "{" + (0..<20).map { #""m\#($0)":1,"# }.joined() + #""m18":1,"changes":[]}"#,
      "the line has two members `m18`"
    ),
    (
      "{" + (0..<20).map { #""m\#($0)":1,"# }.joined() + #""author":"a","author":"b"}"#,
      "the line has two members `author`"
    ),
    (#"{"changes":[1]}"#, "a change is not an object"),
    (#"{"changes":[{}]}"#, "a change has no `op`"),
    (#"{"changes":[{"op":"insert"}]}"#, "a change has no `entity`"),
    (#"{"changes":[{"op":"insert","entity":"E"}]}"#, "a change has no `id`"),
    (#"{"changes":[{"op":"upsert"}]}"#, "`op` is `upsert`, which is not insert, update or delete"),
    (#"{"changes":[{"op":"insert","op":"insert"}]}"#, "a change has two members `op`"),
    (#"{"changes":[{"ob":1}]}"#, "a change has no member `ob`"),
    (
      #"{"changes":[{"op":"update","entity":"E","id":"x","set":{"a":1}}]}"#,
      "there is no E/x to update; it was never inserted, or deleted before"
    ),
    (
      #"{"changes":[{"op":"delete","entity":"E","id":"x"}]}"#,
      "there is no E/x to delete; it was never inserted, or deleted before"
    ),
    (#"{"changes":[{"op":"delete","entity":"F","id":"x"}]}"#, "there is no entity F"),
    (#"{"changes":[{"op":"update","entity":"E","id":"a"}]}"#, "an update has no `set`"),
    (
      #"{"changes":[{"op":"delete","entity":"E","id":"a","set":{}}]}"#, "a delete has no `set`"
    ),
    (
      #"{"changes":[{"op":"update","entity":"E","id":"a","set":{"n":1,"n":2}}]}"#,
      "`set` has two members `n`"
    ),
    (
      #"{"changes":[{"op":"update","entity":"E","id":"a","set":{"n":9223372036854775808}}]}"#,
      "9223372036854775808 is beyond 64 bits; write it as a string, or with .0 as a double"
    ),
    (
      #"{"changes":[{"op":"update","entity":"E","id":"a","set":{"n":-1e400}}]}"#,
      "-1e400 is beyond the range of a double"
    ),
    (
      #"{"lost":true,"changes":[{"op":"update","entity":"E","id":"a","set":{"id":null}}]}"#,
      "E/a.id: a value is required"
    ),
    (
      #"{"timestamp":"yesterday","changes":[]}"#,
      "`timestamp` is not a date of the form 2019-10-22T18:15:04Z"
    ),
    (
      #"{"timestamp_us":9223372036854775807,"changes":[]}"#,
      "a transaction's date lies from -290308-12-22 to before +294247-01-10"
    ),
    (
      #"{"timestamp":"-290308-12-21T23:59:59Z","changes":[]}"#,
      "a transaction's date lies from -290308-12-22 to before +294247-01-10"
    ),
    (
      #"{"changes":[{"op":"update","entity":"E","id":"a","set":{"n":1e-400}}]}"#,
      "1e-400 is beyond the range of a double"
    ),
    (
      #"{"timestamp":"1970-01-01T00:00:01Z","timestamp_us":2000000,"changes":[]}"#,
      "`timestamp` and `timestamp_us` are two different moments"
    ),
    (#"{"changes":[]} x"#, "more text after the end of the document"),
    (#"{"changes":["#, "the line ends inside the document"),
    ("{\"changes\":[],\"message\":\"\u{1}\"}", "a control character in a string must be escaped"),
    (
      #"{"changes":[{"op":"insert","entity":"E","id":"a","set":{}}]}"#,
      "there is E/a already; \"op\":\"update\" changes it"
    ),
  ]

  @Test(arguments: badLines)
  func aBadLineStopsAndLeavesNoTrace(line: String, reason: String) throws {
    let folder = try CommandFolder()
    let good = #"{"changes":[{"op":"insert","entity":"E","id":"a","set":{"n":1}}]}"#
    try folder.write("\(good)\n\n\(line)\n\(good)\n", to: "c.jsonl")
    // No new file is left.
    let new = folder.run("import", "@new.annals", "@c.jsonl")
    #expect(new.status == .foundProblems)
    #expect(new.errors.hasSuffix(" Nothing was imported.\n"), "\(new.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("")) == ["c.jsonl"])
    try folder.write("", to: "empty")
    #expect(folder.run("import", "@e.annals", "@empty").status == .done)
    let run = folder.run("import", "@e.annals", "@c.jsonl")
    #expect(run.status == .foundProblems)
    #expect(run.errors.hasPrefix("annals: @c.jsonl:3: "), "\(run.errors)")
    #expect(run.errors.contains(reason), "\(run.errors)")
    #expect(run.errors.hasSuffix("1 transaction was imported, of line 1.\n"))
    #expect(folder.run("state", "@e.annals").output == #"{"entity":"E","id":"a","n":1}"# + "\n")
    #expect(folder.run("verify", "@e.annals").status == .done)
  }

  /// A line whose metadata never ends is refused when it takes more than could be written.
  @Test(arguments: ["1", "null", "\"a text of some length\""])
  func metadataWithoutEndIsRefused(value: String) throws {
    let source = EndlessLine(value)
    let reading = HistoryImport(
      source, into: .memory, options: .deferred, environment: .fixed(seed: 1))
    let failure = #expect(throws: HistoryImport.Failure.self) { try reading.next() }
    #expect(failure?.line == 1)
    #expect(failure?.reason == "the line's metadata takes more than 4194304 bytes")
    #expect(source.length < 16 << 20)
  }

  @Test func infersAndEvolves() throws {
    let folder = try CommandFolder()
    try folder.write(
      """
      {"changes":[{"op":"insert","entity":"E","id":"a","set":{"i":1,"d":1.5,"b":true,"s":"x",\
      "j":[1, {"k":null}]}}]}
      {"author":"Ann","changes":[{"set":{"i":"one","d":2},"id":"a","entity":"E","op":"update"}],\
      "x":[1],"y":null,"message":"m"}
      {"changes":[{"op":"insert","entity":"F","id":7,"set":{"t":{"$date":"2019-10-22T18:15:04Z"}}}]}
      {"changes":[]}

      """, to: "c.jsonl")
    let run = folder.run("import", "@e.annals", "@c.jsonl")
    #expect(run.output == "imported 4 transactions; the newest is 4\n")
    #expect(
      folder.run("state", "@e.annals").output == """
        {"b":true,"d":2,"entity":"E","i":"one","id":"a","j":"[1,{\\"k\\":null}]","s":"x"}
        {"entity":"F","id":7,"t":"2019-10-22T18:15:04Z"}

        """)
    #expect(
      folder.run("state", "@e.annals", "--at", "1").output
        == #"{"b":true,"d":1.5,"entity":"E","i":1,"id":"a","j":"[1,{\"k\":null}]","s":"x"}"# + "\n")
    let schema = folder.schema("@e.annals")
    #expect(schema.contains(#"{"name":"i","number":2,"type":"any"}"#))
    #expect(schema.contains(#"{"name":"d","number":3,"type":"any"}"#))
    #expect(
      folder.schema("@e.annals", "--at", "1").contains(#""number":3,"type":"double""#)
    )
    #expect(
      folder.run("show", "@e.annals", "2").output == """
        transaction 2  2019-10-22 20:15:04 +0200  Ann · annals[311]
            m
            x: [1]
            schema of E
                ~ i: any, was int64
                ~ d: any, was double
            ~ E/a  i: 1 → "one", d: 1.5 → 2

        """)
  }

  @Test func readsStandardInputAndGzip() throws {
    let folder = try CommandFolder()
    folder.input = Array(#"{"changes":[{"op":"insert","entity":"E","id":"a","set":{}}]}"#.utf8)
    #expect(folder.run("import", "@e.annals", "-").status == .done)
    #expect(folder.run("state", "@e.annals").output == #"{"entity":"E","id":"a"}"# + "\n")
    folder.input = Array(#"{"changes":0}"#.utf8)
    #expect(folder.run("import", "@e.annals", "-").errors.hasPrefix("annals: <stdin>:1: "))
    let packed = UnpackingSourceTests.packed
    try Data(packed).write(to: URL(fileURLWithPath: folder.file("c.gz")))
    let bad = folder.run("import", "@e.annals", "@c.gz")
    #expect(bad.errors.hasPrefix("annals: @c.gz:1: found `h` where a value should be"))
  }

  /// What looks like a tagged value and is none becomes JSON text, which is said once.
  @Test func objectsThatAreNoTaggedValuesAreCounted() throws {
    let folder = try CommandFolder()
    try folder.write(
      #"""
      {"changes":[{"op":"insert","entity":"E","id":"a","set":{"d":{"$date":5},"o":{"$oid":"x"}}}]}
      {"changes":[{"set":{"d":{"$oid":{"a":[1]}},"two":{"$a":1,"$b":2}},"op":"update",\#
      "entity":"E","id":"a"}]}
      {"m":{"$oid":"y"},"ok":{"$date":"2019-10-22T18:15:04Z"},"changes":[]}

      """#, to: "c.jsonl")
    let run = folder.run("import", "@e.annals", "@c.jsonl")
    #expect(run.status == .done)
    #expect(
      run.errors.hasPrefix(
        #"annals: 4 objects with a single name that begins with $, such as {"$date":5}, became "#
      ), "\(run.errors)")
    #expect(folder.run("state", "@e.annals").output.contains(#""o":"{\"$oid\":\"x\"}""#))
  }

  @Test func typesSurviveExportAndImport() throws {
    let folder = try CommandFolder()
    try folder.write(SchemaJSON.text(ImportTests.schema), to: "s.json")
    try folder.write(
      """
      {"author":"Ann","context":"c","timestamp":"2019-10-22T18:15:04.25Z","token":null,\
      "metadata":{"n":1,"author":"x"},"k":{"$date":"2019-01-01T00:00:00Z"},\
      "changes":[{"op":"insert","entity":"Post","id":"6F9619FF-8B86-D011-B42D-00C04FC964FF",\
      "set":{"day":"2019-10-22T18:15:04.000001Z","link":"https://a.b","bytes":"AP8=",\
      "doc":"{ \\"a\\" : 1 }","free":{"$data":"AA=="},"ratio":2,"tags":["x","y"],\
      "next":"7F9619FF-8B86-D011-B42D-00C04FC964FF"}},{"op":"insert","entity":"Tag","id":"y",\
      "set":{}},{"op":"insert","entity":"Tag","id":"x","set":{}},{"op":"insert","entity":"Post",\
      "id":"7F9619FF-8B86-D011-B42D-00C04FC964FF",\
      "set":{"free":{"$uuid":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}}},{"op":"insert",\
      "entity":"Loose","row":1,"set":{"tag":"x"}}]}
      {"timestamp":"2019-10-21T18:15:04Z","changes":[{"op":"update","entity":"Post",\
      "id":"6F9619FF-8B86-D011-B42D-00C04FC964FF","set":{"tags":["y"],"next":null,\
      "free":{"$json":"[]"}}},{"op":"delete","entity":"Tag","id":"x"}]}
      {"timestamp":"2019-10-21T18:15:04Z","changes":[{"op":"insert","entity":"Loose","row":5,\
      "set":{}},{"op":"update","entity":"Tag","id":"y","set":{"id":"z"}}]}
      {"timestamp":"2019-10-21T18:15:04Z","changes":[{"op":"insert","entity":"Tag","id":"x",\
      "set":{"big":"\(String(repeating: "b", count: 9000))"}}]}

      """, to: "c.jsonl")
    let made = folder.run("import", "@a.annals", "@c.jsonl", "--schema", "@s.json")
    #expect(made.status == .done, "\(made.errors)")
    try roundTrip(folder, "@a.annals", from: 0, to: 4)
    let first = folder.run("state", "@a.annals", "--at", "1").output
    #expect(
      first.contains(
        #"{"bytes":"AP8=","day":"2019-10-22T18:15:04.000001Z","doc":"{ \"a\" : 1 }","#
          + #""entity":"Post","free":{"$data":"AA=="},"#
          + #""id":"6F9619FF-8B86-D011-B42D-00C04FC964FF","#
          + #""identifier":"6F9619FF-8B86-D011-B42D-00C04FC964FF","link":"https://a.b","#
          + #""next":"7F9619FF-8B86-D011-B42D-00C04FC964FF","ratio":2.0,"tags":["#
      ), "\(first)")
    #expect(first.contains(##"{"entity":"Loose","id":"#1","tag":"x"}"##))
    // A pruned store starts with its base, gaps in the rows and dangling references among it.
    #expect(folder.run("prune", "@a.annals", "--before", "4", "--yes").status == .done)
    try roundTrip(folder, "@a.annals", from: 3, to: 4)
    #expect(folder.run("verify", "@a.annals.3").status == .done)
  }

  /// Exports a store, imports that, and compares schema and state at every transaction.
  private func roundTrip(_ folder: CommandFolder, _ name: String, from: Int, to: Int) throws {
    let exported = folder.run("export", name)
    #expect(exported.status == .done, "\(exported.errors)")
    try folder.write(exported.output, to: "export.jsonl")
    let copy = "\(name).\(from)"
    let run = folder.run("import", copy, "@export.jsonl")
    #expect(run.status == .done, "\(run.errors) of \(exported.output.prefix(3000))")
    for number in from...to {
      for command in ["state", "schema"] {
        let original = folder.run(command, name, "--at", "\(number)")
        let again = folder.run(command, copy, "--at", "\(number)")
        #expect(original.output == again.output, "\(command) at \(number)")
        #expect(original.status == .done)
      }
    }
    // The first line names the store.
    let again = folder.run("export", copy).output
    #expect(again.drop { $0 != "\n" } == exported.output.drop { $0 != "\n" })
  }

  static var schema: Schema {
    var post = Entity(
      "Post",
      attributes: [
        Attribute("identifier", .uuid, isOptional: false, isUnique: true), Attribute("day", .date),
        Attribute("link", .url), Attribute("bytes", .data), Attribute("doc", .json),
        Attribute("free", .any), Attribute("ratio", .double),
      ])
    post.relationships = [
      Relationship("tags", to: "Tag", isToMany: true), Relationship("next", to: "Post"),
    ]
    let tag = Entity(
      "Tag",
      attributes: [
        Attribute("id", .string, isOptional: false, isUnique: true), Attribute("big", .string),
      ])
    var loose = Entity("Loose", attributes: [Attribute("note", .string)])
    loose.relationships = [Relationship("tag", to: "Tag")]
    return Schema(entities: [post, tag, loose])
  }
}

@Suite struct GitImportTests {
  /// The lines of `state --entity File` as path to mode and object.
  private func files(_ folder: CommandFolder, at number: Int) throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    let run = folder.run("state", "@g.annals", "--at", "\(number)", "--entity", "File")
    for line in run.output.split(separator: "\n") {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let path = try #require(object["id"] as? String)
      result[path] = [object["mode"] as? String ?? "", object["blob"] as? String ?? ""]
      #expect((object["size"] == nil) == (object["mode"] as? String == "160000"))
    }
    return result
  }

  @Test func everyStateIsTheTreeOfItsCommit() throws {
    let repository = try GitHistoryTests.oddRepository()
    let folder = try CommandFolder()
    let run = folder.run("import", "@g.annals", "--git", repository.path)
    #expect(run.status == .done)
    #expect(run.output == "imported 9 commits of main; the newest is transaction 9\n")
    #expect(run.errors == "annals: note: 1 path with bytes that are not UTF-8, written \\xHH\n")
    let ids = String(
      decoding: try repository.git("rev-list", "--first-parent", "--reverse", "main"), as: UTF8.self
    ).split(separator: "\n").map(String.init)
    for (index, id) in ids.enumerated() {
      #expect(try files(folder, at: index + 1) == repository.tree(id), "commit \(index + 1)")
    }
    #expect(folder.run("log", "@g.annals", "2..4").output.contains("    merge\n"))
    let again = folder.run("import", "@g.annals", "--git", repository.path)
    #expect(again.output == "imported 0 commits of main; the newest is transaction 9\n")
    try repository.write("more\n", to: "more")
    try repository.commit("more")
    let more = folder.run("import", "@g.annals", "--git", repository.path, "--branch", "main")
    #expect(more.output == "imported 1 commit of main; the newest is transaction 10\n")
    #expect(try files(folder, at: 10) == repository.tree("main"))
    try repository.git("commit", "-q", "--amend", "-m", "rewritten")
    let rewritten = folder.run("import", "@g.annals", "--git", repository.path)
    #expect(rewritten.status == .couldNotRun)
    #expect(rewritten.errors.hasPrefix("annals: branch main was rewritten: commit "))
    #expect(rewritten.errors.contains("(transaction 10)"))
    try repository.git("reset", "-q", "--hard", "HEAD~3")
    #expect(
      folder.run("import", "@g.annals", "--git", repository.path).errors.contains("was rewritten"))
    #expect(folder.run("verify", "@g.annals").status == .done)
  }

  /// One commit that git cannot date ended every import of its repository.
  @Test(arguments: ["99999999999999999999 +0000", "9223372036855 +0000", ""])
  func aCommitWithoutADateTakesThatOfItsParent(date: String) throws {
    let repository = try TestRepository()
    let folder = try CommandFolder()
    func commitUndated(_ message: String, parent: String?) throws -> String {
      let tree = String(decoding: try repository.git("write-tree"), as: UTF8.self)
      try folder.write(
        "tree \(tree)\(parent.map { "parent \($0)\n" } ?? "")author A <a@b> \(date)\n"
          + "committer A <a@b> \(date)\n\n\(message)\n", to: "object")
      let id = String(
        decoding: try repository.git(
          "hash-object", "-t", "commit", "-w", "--literally", folder.file("object")),
        as: UTF8.self
      ).trimmingCharacters(in: .newlines)
      try repository.git("update-ref", "refs/heads/main", id)
      return id
    }
    try repository.write("a\n", to: "a")
    try repository.git("add", "-A")
    let first = try commitUndated("first", parent: nil)
    try repository.commit("dated")
    let dated = String(decoding: try repository.git("rev-parse", "main"), as: UTF8.self)
      .trimmingCharacters(in: .newlines)
    let note =
      "annals: note: commit \(first) has no date that can be used, and takes that of its "
      + "parent: 1970-01-01 01:00:00 +0100\n"
    let some = folder.run("import", "@g.annals", "--git", repository.path)
    #expect(some.status == .done && some.errors == note, "\(some)")
    let third = try commitUndated("third", parent: dated)
    let fourth = try commitUndated("fourth", parent: third)
    let more = folder.run("import", "@g.annals", "--git", repository.path)
    #expect(more.status == .done, "\(more)")
    #expect(
      more.errors.hasPrefix(
        "annals: note: commit \(third) and 1 other commit have no date that can be used, and take "
          + "those of their parents: 2017-"), "\(more.errors)")
    let store = try Store(path: folder.file("g.annals"))
    let dates = try (1...4).map { Timestamp(try store.transaction($0).timestamp) }
    #expect(dates[0] == Timestamp(microseconds: 0))
    #expect(dates[2] == dates[1] && dates[3] == dates[1])
    #expect(try store.transaction(4).metadata["commit"] == .string(fourth))
    #expect(try store.transaction(4).metadata["authored"] == nil)
  }

  @Test func aShallowCopyIsImportedWithAWarning() throws {
    let repository = try GitHistoryTests.oddRepository()
    let folder = try CommandFolder()
    let copy = folder.file("copy")
    try repository.git("clone", "-q", "--depth", "2", "file://" + repository.path, copy)
    let run = folder.run("import", "@g.annals", "--git", copy)
    #expect(run.status == .done)
    #expect(run.errors.hasPrefix("annals: warning: @copy is a shallow copy; "))
    #expect(try files(folder, at: 2) == repository.tree("main"))
  }

  @Test func whatIsWrongIsNamed() throws {
    let folder = try CommandFolder()
    let none = folder.run("import", "@g.annals", "--git", "@nowhere")
    #expect(none.status == .couldNotRun && none.errors.contains("is no git repository"))
    folder.environment["PATH"] = "/nonexistent"
    let noGit = folder.run("import", "@g.annals", "--git", "@nowhere")
    #expect(noGit.errors.hasPrefix("annals: there is no git on the PATH."))
  }
}

/// A line that begins and never ends: members of different names, all of this value.
private final class EndlessLine: ByteSource {
  private let value: String
  private var rest: ContiguousArray<UInt8> = ContiguousArray("{".utf8)
  private var count = 0
  /// How many bytes were asked for.
  private(set) var length = 0

  init(_ value: String) { self.value = value }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    while rest.count < buffer.count {
      count += 1
      rest.append(contentsOf: "\"m\(count)\":\(value),".utf8)
    }
    buffer.copyBytes(from: rest.prefix(buffer.count))
    rest.removeFirst(buffer.count)
    length += buffer.count
    return buffer.count
  }
}
