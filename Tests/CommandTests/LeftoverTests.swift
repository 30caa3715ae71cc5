import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// What a command that failed leaves behind: nothing that was not there before.
@Suite struct LeftoverTests {
  private func files(_ folder: CommandFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test func aFailedPutMakesNoFile() throws {
    let folder = try CommandFolder()
    for arguments in [
      ["Post#9", "title=x"], ["Post/a", "title:={"], ["a#b/c", "title=x"],
      ["Post/a", "title=x", "title:=1"],
    ] {
      let run = folder.run(["put", "@new.annals"] + arguments)
      #expect(run.status != .done, "\(arguments): \(run)")
      #expect(try files(folder) == [], "\(arguments): \(run)")
    }
    #expect(folder.run("put", "@new.annals", "Post/a", "title=x").status == .done)
    let failed = folder.run("put", "@new.annals", "Post#9", "title=x")
    #expect(failed.status == .couldNotRun)
    #expect(folder.run("get", "@new.annals", "Post/a").status == .done)
    #expect(try files(folder) == ["new.annals"])
  }

  @Test func aBadFirstLineMakesNoFile() throws {
    let folder = try CommandFolder()
    let good = #"{"changes":[{"op":"insert","entity":"E","id":"a","set":{}}]}"#
    let schema = #"{"entities":[{"name":"E","attributes":[{"name":"id","type":"string"}]}]}"#
    try folder.write(schema, to: "s.json")
    for bad in [
      "{", "[]", "{}", #"{"changes":[{"op":"update","entity":"E","id":"a","set":{}}]}"#,
      #"{"schema":{"entities":[{"name":"a/b"}]}}"#,
      #"{"base":5,"timestamp":"never"}"#,
    ] {
      try folder.write("\(bad)\n\(good)\n", to: "c.jsonl")
      let run = folder.run("import", "@new.annals", "@c.jsonl")
      #expect(run.status == .foundProblems, "\(bad): \(run)")
      // A schema is taken in with the first transaction.
      let line = bad.contains("schema") ? 2 : 1
      #expect(run.errors.contains("@c.jsonl:\(line): "), "\(bad): \(run)")
      #expect(try files(folder) == ["c.jsonl", "s.json"], "\(bad): \(run)")
    }
    try folder.write(#"{"changes":[{"op":"insert","entity":"F","id":"a"}]}"#, to: "c.jsonl")
    let foreign = folder.run("import", "@new.annals", "@c.jsonl", "--schema", "@s.json")
    #expect(foreign.status == .foundProblems, "\(foreign)")
    #expect(try files(folder) == ["c.jsonl", "s.json"])
    // Nor does what went before a bad line make one.
    try folder.write("\(good)\n{\n", to: "c.jsonl")
    #expect(folder.run("import", "@new.annals", "@c.jsonl").status == .foundProblems)
    #expect(try files(folder) == ["c.jsonl", "s.json"])
    // In a store that was there it stays.
    try folder.write("", to: "empty")
    #expect(folder.run("import", "@new.annals", "@empty").status == .done)
    let second = folder.run("import", "@new.annals", "@c.jsonl")
    #expect(second.status == .foundProblems)
    #expect(folder.run("get", "@new.annals", "E/a").status == .done)
    // And so does a store that was there.
    try folder.write("{\n", to: "c.jsonl")
    #expect(folder.run("import", "@new.annals", "@c.jsonl").status == .foundProblems)
    #expect(folder.run("get", "@new.annals", "E/a").status == .done)
  }
}
