import Foundation
import Testing

@testable import AnnalsCommand

/// Keys in an attribute of type `any`: a KEY is text, and the values are not.
@Suite struct AnyKeyTests {
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"T","attributes":[{"name":"id","type":"any","unique":true},"#
        + #"{"name":"x","type":"string"}]}]}"#, to: "s.json")
    let ids = [
      "7", "true", "1.5", #"{"$date":"2019-10-22T18:15:04Z"}"#,
      #"{"$uuid":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}"#, #"{"$url":"https://a.b/c"}"#,
      #"[1,2]"#, #""Fog""#,
    ]
    let lines = ids.enumerated().map { index, id in
      #"{"changes":[{"op":"insert","entity":"T","id":\#(id),"set":{"x":"\#(index)"}}]}"#
    }
    try folder.write(lines.joined(separator: "\n") + "\n", to: "c.jsonl")
    let run = folder.run("import", "@t.annals", "@c.jsonl", "--schema", "@s.json")
    #expect(run.status == .done, "\(run)")
    return folder
  }

  private static let keys = [
    "7", "true", "1.5", "2019-10-22T18:15:04Z", "6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "https://a.b/c", "[1,2]", "Fog",
  ]

  /// What the output calls an object is understood, whatever its key.
  @Test func everyNameInTheOutputIsUnderstood() throws {
    let folder = try folder()
    let log = folder.run("log", "@t.annals").output
    for (index, key) in AnyKeyTests.keys.enumerated() {
      #expect(log.contains("+ T/\(key)\n"), "\(key): \(log)")
      let got = folder.run("get", "@t.annals", "T/\(key)")
      #expect(got.status == .done && got.output.contains("\"\(index)\""), "\(key): \(got)")
      for command in [["blame"], ["show"], ["log", "--object"]] {
        let run = folder.run([command[0], "@t.annals"] + command.dropFirst() + ["T/\(key)"])
        #expect(run.status == .done, "\(run)")
      }
      // It is updated, not inserted a second time as text.
      #expect(folder.run("put", "@t.annals", "T/\(key)", "x=new").status == .done)
    }
    #expect(folder.run("state", "@t.annals").output.split(separator: "\n").count == 8)
    #expect(folder.run("delete", "@t.annals", "T/7").status == .done)
    // The name of one that was deleted, too.
    #expect(folder.run("show", "@t.annals", "T/7").output.hasPrefix("T/7 was deleted\n"))
    // What is not there is inserted as text.
    folder.run("put", "@t.annals", "T/8", "x=eight")
    #expect(folder.run("get", "@t.annals", "T/8").status == .done)
    #expect(folder.run("state", "@t.annals").output.contains(#""id":"8""#))
  }

  @Test func twoOfOneNameAreRefusedByTheirRows() throws {
    let folder = try folder()
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"T","id":"7","set":{"x":"text"}}]}"#, to: "c.jsonl")
    #expect(folder.run("import", "@t.annals", "@c.jsonl").status == .done)
    for arguments in [
      ["get", "@t.annals", "T/7"], ["put", "@t.annals", "T/7", "x=y"],
      ["delete", "@t.annals", "T/7"], ["blame", "@t.annals", "T/7"],
      ["log", "@t.annals", "--object", "T/7"],
    ] {
      let run = folder.run(arguments)
      #expect(run.status == .couldNotRun, "\(run)")
      #expect(
        run.errors == "annals: T/7 names 2 objects, as id is of type any: write T#9 (string) or "
          + "T#1 (int)\n")
    }
    #expect(folder.run("get", "@t.annals", "T#1").output.contains("\"0\""))
    #expect(folder.run("get", "@t.annals", "T#9").output.contains("\"text\""))
  }
}
