import Foundation
import Testing

@testable import AnnalsCommand

/// Decimals and days on the command line, and as JSON Lines.
@Suite struct DecimalCommandTests {
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"Item","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"price","type":"decimal","default":9.990,"minimum":-1e3},"#
        + #"{"name":"due","type":"day"},{"name":"until","type":"day"},"#
        + #"{"name":"any","type":"any"}]}]}"#,
      to: "s.json")
    try folder.write("", to: "none.jsonl")
    let run = folder.run("import", "@a.annals", "@none.jsonl", "--schema", "@s.json")
    #expect(run.status == .done, "\(run)")
    return folder
  }

  @Test func putKeepsEveryDigit() throws {
    let folder = try folder()
    let digits = "0.1000000000000000055511151231257827"
    let most = String(repeating: "9", count: 38)
    for assignments in [
      ["Item/a", "price:=12.50", "due=2019-10-06"],
      ["Item/b", "price=\(digits)", "due=today"], ["Item/c", "price:=\(most)", "due=1d"],
      ["Item/d", "price:=7", #"any:={"$decimal":"1.50"}"#],
      ["Item/e", #"any:={"$day":"2019-10-06"}"#],
    ] {
      let run = folder.run(["put", "@a.annals"] + assignments)
      #expect(run.status == .done, "\(run)")
    }
    let state = folder.run("state", "@a.annals").output
    for text in [
      #""due":"2019-10-06","entity":"Item","id":"a","price":12.5}"#,
      #""due":"2019-10-22","entity":"Item","id":"b","price":\#(digits)}"#,
      #""due":"2019-10-21","entity":"Item","id":"c","price":\#(most)}"#,
      #"{"any":{"$decimal":"1.5"},"entity":"Item","id":"d","price":7}"#,
      #"{"any":{"$day":"2019-10-06"},"entity":"Item","id":"e""#,
    ] {
      #expect(state.contains(text), "\(text)\n\(state)")
    }
    #expect(folder.run("get", "@a.annals", "Item/a").output.contains("12.5"))
    #expect(folder.run("verify", "@a.annals").status == .done)
  }

  @Test(arguments: [
    (["price:=12.5x"], "x"), (["price=soon"], "write a number, such as 12.50"),
    (["price:=123456789012345678901234567890123456789"], "at most 38 digits"),
    (["price:=-1001"], "less than -1000"), (["due=2019-10-06T10:00"], "write 2019-10-22"),
    (["due=2019-02-29"], "write 2019-10-22"), (["due:=5"], "day"),
  ])
  func mistakesAreSaid(assignments: [String], message: String) throws {
    let folder = try folder()
    let run = folder.run(["put", "@a.annals", "Item/a"] + assignments)
    #expect(run.status != .done && run.errors.contains(message), "\(run)")
  }

  @Test func exportAndImportLoseNothing() throws {
    let folder = try folder()
    folder.run("put", "@a.annals", "Item/a", "price:=12.50", "due=2019-10-06")
    folder.run("put", "@a.annals", "Item/b", "price:=0.1", #"any:={"$decimal":"1e30"}"#)
    folder.run("put", "@a.annals", "Item/a", "price:=-0.001", "due=0000-02-29")
    let lines = folder.run("export", "@a.annals").output
    try folder.write(lines, to: "a.jsonl")
    let run = folder.run("import", "@b.annals", "@a.jsonl")
    #expect(run.status == .done, "\(run)")
    // The first line has the store's UUID.
    func changes(_ text: String) -> [Substring] { Array(text.split(separator: "\n").dropFirst()) }
    #expect(changes(folder.run("export", "@b.annals").output) == changes(lines))
    #expect(folder.run("state", "@b.annals").output == folder.run("state", "@a.annals").output)
    #expect(lines.contains(#""price":-0.001"#) && lines.contains(#""default":9.99"#), "\(lines)")
  }

  /// A decimal as the key of objects, to which others refer.
  @Test func aDecimalIsAKey() throws {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"Rate","attributes":[{"name":"id","type":"decimal","unique":true}],"#
        + #""relationships":[{"name":"next","to":"Rate"}]}]}"#, to: "s.json")
    let big = "99999999999999999999.01"
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"Rate","id":\#(big),"set":{}},"#
        + #"{"op":"insert","entity":"Rate","id":0.10,"set":{"next":"\#(big)"}}]}"#, to: "c.jsonl")
    let run = folder.run("import", "@r.annals", "@c.jsonl", "--schema", "@s.json")
    #expect(run.status == .done, "\(run)")
    #expect(folder.run("put", "@r.annals", "Rate/7", "next=0.1").status == .done)
    let state = folder.run("state", "@r.annals").output
    #expect(state.contains(#"{"entity":"Rate","id":0.1,"next":"\#(big)"}"#), "\(state)")
    #expect(state.contains(#"{"entity":"Rate","id":7,"next":"0.1"}"#), "\(state)")
    try folder.write(folder.run("export", "@r.annals").output, to: "r.jsonl")
    #expect(folder.run("import", "@b.annals", "@r.jsonl").status == .done)
    #expect(folder.run("state", "@b.annals").output == state)
  }

  @Test func queriesAndGroups() throws {
    let folder = try folder()
    for (id, price, due) in [
      ("a", "0.1", "2019-10-06"), ("b", "0.2", "2019-10-31"), ("c", "12.50", "2019-11-01"),
    ] {
      folder.run("put", "@a.annals", "Item/\(id)", "price:=\(price)", "due=\(due)")
    }
    func query(_ arguments: String...) -> String {
      folder.run(["query", "@a.annals", "Item"] + arguments).output
    }
    #expect(query("--where", "price < 0.2", "--properties", "id", "--format", "csv").contains("a"))
    let groups = query(
      "--group-by", "month:due", "--sum", "price", "--average", "price", "--format", "jsonl")
    #expect(groups.contains(#""sum(price)":0.3,"average(price)":0.15"#), "\(groups)")
    #expect(groups.contains(#""month:due":"2019-10""#), "\(groups)")
    let days = query("--where", "due > 7d AND due <= 2019-10-31", "--properties", "id,due")
    #expect(days.contains("2019-10-31") && !days.contains("2019-11-01"), "\(days)")
    for (text, reason) in [
      ("2026-02-30", "there is no such date"), ("2026-11", "it names no single day"),
      ("2026-11-01T10:00:00Z", "a day has no time"),
    ] {
      let run = folder.run("query", "@a.annals", "Item", "--where", "due > \(text)")
      #expect(run.errors.contains("\(text) is no day: \(reason); write 2019-10-01"), "\(run)")
    }
  }

  /// It is 2019-10-22, 20:20 in Berlin.
  @Test func timelines() throws {
    let folder = try folder()
    folder.run("put", "@a.annals", "Item/fair", "due=2019-10-04", "until=2019-10-06")
    folder.run("put", "@a.annals", "Item/talk", "due=2019-10-22", "until=2019-10-22")
    folder.run("put", "@a.annals", "Item/launch", "due=2019-10-24")
    let arguments = [
      "timeline", "@a.annals", "--entity", "Item", "--start", "due", "--end", "until",
    ]
    let lines = folder.run(arguments).output.split(separator: "\n").map(String.init)
    #expect(lines.count == 4)
    #expect(
      lines.map { String($0.prefix(10)) } == [
        "2019-10-04", "2019-10-06", "2019-10-22", "2019-10-24",
      ])
    let talk = lines.dropFirst(2).first ?? ""
    for text in ["talk", "for 1 day", "today"] { #expect(talk.contains(text), "\(lines)") }
    let fair = lines.first ?? ""
    #expect(fair.contains("for 3 days") && fair.contains("18 days ago"), "\(lines)")
    #expect(lines.last?.contains("in 2 days") == true, "\(lines)")
    let json = folder.run(arguments + ["--format", "jsonl"]).output
    #expect(
      json.contains(#""date":"2019-10-04","start":"2019-10-04","end":"2019-10-06""#), "\(json)")
    #expect(json.contains(#""length":"P1D""#) && json.contains(#""length":"P3D""#), "\(json)")
    let picture = folder.run(arguments + ["--svg", "-"]).output
    #expect(picture.contains("2019-10-04 – 2019-10-06"), "\(picture.prefix(2_000))")
  }
}
