import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// What `annals timeline` prints. It is 2019-10-22, 20:20 in Berlin.
@Suite struct TimelineCommandTests {
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"Trip","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"from","type":"date"},{"name":"to","type":"date"},"#
        + #"{"name":"isOpen","type":"bool"},{"name":"kind","type":"string"},"#
        + #"{"name":"who","type":"string"},{"name":"year","type":"string"},"#
        + #"{"name":"last","type":"string"}]}]}"#, to: "s.json")
    func insert(_ id: String, _ set: String) -> String {
      #"{"op":"insert","entity":"Trip","id":"\#(id)","set":{\#(set)}}"#
    }
    let changes = [
      insert("Kyoto", #""from":"2019-10-20T08:00:00Z","to":"2019-11-01T08:00:00Z","who":"Ann""#),
      insert("Oslo", #""from":"2019-10-21T18:20:00Z","who":"Ben","isOpen":true,"kind":"ongoing""#),
      insert("Nara", #""from":"2019-03-31T00:30:00Z","to":"2019-03-31T00:30:00Z","who":"Ann""#),
      insert("Rome", #""from":"2018-10-22T18:20:00Z","to":"2018-10-01T18:20:00Z""#),
      insert("<b>", #""year":"2004-05","last":"2019-11-1","who":"Ben""#),
      insert("Bonn", #""year":"2003","last":"2004-05""#), insert("Pisa", #""year":"soon""#),
    ]
    try folder.write(#"{"changes":[\#(changes.joined(separator: ","))]}"#, to: "c.jsonl")
    let run = folder.run("import", "@t.annals", "@c.jsonl", "--schema", "@s.json")
    #expect(run.status == .done, "\(run)")
    return folder
  }

  @Test func rowsInATable() throws {
    let folder = try folder()
    let run = folder.run(
      "timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--open",
      "nil",
      "--group", "who")
    #expect(
      run.output == """
        2018-10-01 19:20:00 +0100  end      Rom\
        e                                                 1 year ago  (ends before it starts)
        2018-10-22 19:20:00 +0100  start    Rome                              +21 day\
        s           1 year ago  (ends before it starts)
        2019-03-31 01:30:00 +0100  start    Nara   Ann  for 0 seconds         +5 months 8 da\
        ys   6 months 22 days ago
        2019-03-31 01:30:00 +0100  end      Nara   Ann  for 0 seconds         \
                           6 months 22 days ago
        2019-10-20 10:00:00 +0200  start    Kyoto  Ann  for 11 days 23 hours  +6 months 20 d\
        ays  2 days 10 hours ago
        2019-10-21 20:20:00 +0200  start    Oslo   Ben                        +1 day 10 hour\
        s    1 day ago
        2019-11-01 09:00:00 +0100  end      Kyoto  Ann  for 11 days 23 hours  +10 days 12 ho\
        urs  in 9 days 12 hours
        …                          ongoing  Oslo   Ben  for 1 da\
        y                                goes on

        without a place: 3 objects
            Trip/<b>: no start
            Trip/Bonn: no start
            Trip/Pisa: no start

        """)
  }

  @Test func inATerminalALineFits() throws {
    let folder = try folder()
    for width in [40, 60, 80, 100, 120] {
      folder.terminal = Console.Terminal(isOutput: true, width: width)
      folder.environment["NO_COLOR"] = "1"
      let run = folder.run(
        "timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--group",
        "who")
      let lines = run.output.split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= width }, "\(run.output)")
      // Columns are whole or left out; only remarks at the end, or names, are cut.
      #expect(
        lines.allSatisfy { $0.last != "…" || $0.contains(" (") || width == 40 }, "\(run.output)")
      #expect(lines[0].contains(" ago") == (width == 120), "\(run.output)")
    }
  }

  @Test func datesThatAreTexts() throws {
    let run = try folder().run(
      "timeline", "@t.annals", "--entity", "Trip", "--start", "year", "--end", "last", "--order",
      "desc")
    #expect(
      run.output == """
        2004-05           <b>                                          15 years 5 months ag\
        o  (no date: "2019-11-1")
        2004-05  end      Bonn  for 1 year 4 months                    15 years 5 months ago
        2003     start    Bonn  for 1 year 4 months  +1 year 4 months  16 years 9 months ago

        without a place: 5 objects
            Trip/Kyoto: no start
            Trip/Oslo: no start
            Trip/Nara: no start
            Trip/Rome: no start
            Trip/Pisa: a start that is no date

        """)
  }

  @Test func linesForMachines() throws {
    let folder = try folder()
    let run = folder.run(
      "timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--open",
      "flag:isOpen", "--group", "who", "--label", "kind", "--from", "2019", "--format", "jsonl")
    #expect(
      run.output == """
        {"object":"Trip/Nara","role":"start","kind":"range","date":"2019-03-31T00:30:00Z","s\
        tart":"2019-03-31T00:30:00Z","end":"2019-03-31T00:30:00Z","group":"Ann","length":"PT\
        0S","elapsed":"P6M22DT18H50M"}
        {"object":"Trip/Nara","role":"end","kind":"range","date":"2019-03-31T00:30:00Z","sta\
        rt":"2019-03-31T00:30:00Z","end":"2019-03-31T00:30:00Z","group":"Ann","length":"PT0S\
        ","elapsed":"P6M22DT18H50M","gap":"PT0S"}
        {"object":"Trip/Kyoto","role":"start","kind":"range","date":"2019-10-20T08:00:00Z","\
        start":"2019-10-20T08:00:00Z","end":"2019-11-01T08:00:00Z","group":"Ann","length":"P\
        11DT23H","elapsed":"P2DT10H20M","gap":"P6M20DT8H30M"}
        {"object":"Trip/Oslo","role":"start","kind":"ongoing","date":"2019-10-21T18:20:00Z",\
        "start":"2019-10-21T18:20:00Z","label":"ongoing","group":"Ben","length":"P1D","elaps\
        ed":"P1D","gap":"P1DT10H20M"}
        {"object":"Trip/Kyoto","role":"end","kind":"range","date":"2019-11-01T08:00:00Z","st\
        art":"2019-10-20T08:00:00Z","end":"2019-11-01T08:00:00Z","group":"Ann","length":"P11\
        DT23H","elapsed":"-P9DT12H40M","gap":"P10DT12H40M"}
        {"object":"Trip/Oslo","role":"ongoing","kind":"ongoing","start":"2019-10-21T18:20:00\
        Z","label":"ongoing","group":"Ben","length":"P1D","elapsed":"P1D"}
        {"object":"Trip/<b>","unplaced":"no start"}
        {"object":"Trip/Bonn","unplaced":"no start"}
        {"object":"Trip/Pisa","unplaced":"no start"}

        """)
  }

  /// One axis is when it happened, the other when it was written down.
  @Test func whenItHappenedAndWhenItWasWrittenDown() throws {
    let folder = try folder()
    folder.run("put", "@t.annals", "Trip/Oslo", "to=2019-10-25", "--author", "me")
    func names(_ more: String...) -> [String] {
      let run = folder.run(
        ["timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--open"]
          + ["nil", "--hide-ends", "--format", "jsonl"] + more)
      return run.output.split(separator: "\n").compactMap { line in
        let row = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        guard let role = row?["role"] as? String else { return nil }
        return "\(role) \(row?["object"] as? String ?? "")"
      }
    }
    let all = ["start Trip/Rome", "start Trip/Nara", "start Trip/Kyoto", "start Trip/Oslo"]
    #expect(names() == all)
    #expect(names("--at", "head~1") == all + ["ongoing Trip/Oslo"])
    #expect(names("--at", "head~1", "--hide-ongoing") == all)
    #expect(names("--at", "head~1", "--order", "desc") == ["ongoing Trip/Oslo"] + all.reversed())
    #expect(names("--from", "2019") == Array(all[1...]))
    #expect(names("--from", "2019-03-31", "--to", "2019-03-31") == [all[1]])
    #expect(names("--to", "2019-10-20 10:00") == Array(all[...2]))
    #expect(names("--to", "2019-10-20 09:59") == Array(all[...1]))
  }

  /// The first and the last moment of a span belong to it, for rows of every kind; what goes on is
  /// shown if it has begun by the last.
  @Test func theFirstAndTheLastMomentBelongToASpan() throws {
    let folder = try folder()
    // In Berlin, the day before and the day.
    let moments = [
      "20T21:59:59.999999Z", "20T22:00:00Z", "21T12:00:00Z", "21T21:59:59.999999Z", "21T22:00:00Z",
    ].map { "2019-10-\($0)" }
    var changes: [String] = []
    for (place, moment) in moments.enumerated() {
      for (kind, end) in [("open", ""), ("done", #","to":"2020-01-01T00:00:00Z""#)] {
        let set = #"{"from":"\#(moment)"\#(end)}"#
        changes.append(
          #"{"op":"insert","entity":"Trip","id":"\#(kind)\#(place)","set":\#(set)}"#)
      }
    }
    try folder.write(#"{"changes":[\#(changes.joined(separator: ","))]}"#, to: "m.jsonl")
    #expect(folder.run("import", "@t.annals", "@m.jsonl").status == .done)
    for (options, started, begun) in [
      (["--from", "2019-10-21", "--to", "2019-10-21"], [1, 2, 3], [0, 1, 2, 3]),
      (["--from", "2019-10-21"], [1, 2, 3, 4], [0, 1, 2, 3, 4]),
      (["--to", "2019-10-20"], [0], [0]), (["--to", "2019-10-21"], [0, 1, 2, 3], [0, 1, 2, 3]),
    ] {
      let output = folder.run(
        ["timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--open"]
          + ["nil", "--format", "jsonl"] + options
      ).output
      func places(_ kind: String, _ role: String) -> [Int] {
        output.matches(of: #/"object":"Trip\/(open|done)(\d)","role":"(\w+)"/#)
          .filter { $0.1 == kind && $0.3 == role }.compactMap { Int($0.2) }
      }
      #expect(places("open", "start") == started, "\(options): \(output)")
      #expect(places("done", "start") == started, "\(options): \(output)")
      #expect(places("open", "ongoing") == begun, "\(options): \(output)")
    }
  }

  @Test func livesOfObjects() throws {
    let folder = try folder()
    folder.run("put", "@t.annals", "Place/Bonn", "id=Bonn", "--new", "--author", "me")
    folder.run("delete", "@t.annals", "Trip/Oslo", "--author", "me")
    folder.run("revert", "@t.annals", "head", "--yes", "--author", "me")
    let run = folder.run("timeline", "@t.annals", "--lifetimes", "--from", "2019-10-22 20:15:10")
    #expect(
      run.output == """
        2019-10-22 20:15:12 +0200  end      Oslo   Trip   for 8 second\
        s                         4 minutes 48 seconds ago
        2019-10-22 20:15:16 +0200  start    Oslo   Trip                             +4 secon\
        ds  4 minutes 44 seconds ago
        …                          ongoing  Kyoto  Trip   for 4 minutes 56 second\
        s              goes on
        …                          ongoing  Oslo   Trip   for 4 minutes 44 second\
        s              goes on
        …                          ongoing  Nara   Trip   for 4 minutes 56 second\
        s              goes on
        …                          ongoing  Rome   Trip   for 4 minutes 56 second\
        s              goes on
        …                          ongoing  <b>    Trip   for 4 minutes 56 second\
        s              goes on
        …                          ongoing  Bonn   Trip   for 4 minutes 56 second\
        s              goes on
        …                          ongoing  Pisa   Trip   for 4 minutes 56 second\
        s              goes on
        …                          ongoing  Bonn   Place  for 4 minutes 52 second\
        s              goes on

        """)
    let one = folder.run("timeline", "@t.annals", "--lifetimes", "--entity", "Place")
    #expect(one.output.split(separator: "\n").count == 2, "\(one)")
    // What was before history begins.
    folder.run("prune", "@t.annals", "--before", "3", "--yes")
    let pruned = folder.run(
      "timeline", "@t.annals", "--lifetimes", "--at", "head~1", "--hide-ongoing")
    #expect(pruned.output.contains("(or earlier)"), "\(pruned)")
    #expect(pruned.output.split(separator: "\n").filter { $0.contains(" end ") }.count == 1)
  }

  /// Lives are those of an entity, whatever its name was, and not of one that had its name before.
  @Test func livesOfAnEntityThatWasRenamed() throws {
    let folder = try folder()
    let store = try Store(path: folder.file("t.annals"), environment: folder.store)
    try store.write { tx in
      try tx.require(Schema(), edits: [.renameEntity("Trip", to: "Journey")])
    }
    try store.require(Schema(entities: [Entity("Trip", attributes: [Attribute("id", .string)])]))
    try store.write { tx in _ = try tx.insert("Trip", ["id": "new"]) }
    try store.close()
    func lives(_ more: String...) -> Int {
      folder.run(["timeline", "@t.annals", "--lifetimes", "--hide-ongoing"] + more).output
        .split(separator: "\n").count
    }
    #expect(lives() == 8)
    #expect(lives("--entity", "Journey") == 7)
    #expect(lives("--entity", "Trip") == 1)
    #expect(lives("--entity", "Trip", "--at", "1") == 7)
  }

  @Test(arguments: [
    (["--entity", "Trip"], "say --entity E --start P, or --lifetimes"),
    (["--lifetimes", "--start", "from"], "--lifetimes takes its dates from history"),
    (["--entity", "Trip", "--start", "from", "--open", "nil"], "say --end P, too"),
    (["--entity", "Trip", "--start", "form"], "did you mean from?"),
    (
      ["--entity", "Trip", "--start", "isOpen"],
      "\"isOpen\" is neither a date, nor a day, nor a text"
    ),
    (["--entity", "Trip", "--start", "from,to"], "--start is one property"),
    (["--entity", "Trip", "--start", "from", "--open", "now"], "not `now`"),
    (["--entity", "Trip", "--start", "from", "--open", "flag:kind"], "is not of type bool"),
    (["--entity", "Trip", "--start", "from", "--from", "soon"], "`soon` is no date"),
    (["--entity", "Trip", "--start", "from", "--from", "2020", "--to", "2019"], "is later than"),
    (["--entity", "Trap", "--start", "from"], "Trip"),
    (["--entity", "Trip", "--start", "from", "--svg", "@s.json"], "@s.json exists already"),
    (["--entity", "Trip", "--start", "from", "--svg", "@t.annals", "--force"], "and is no SVG"),
    (["--entity", "Trip", "--start", "from", "--force"], "--force is for --svg"),
    (
      ["--entity", "Trip", "--start", "from", "--svg", "@no/x.svg"],
      "x.svg could not be written: there is no directory @no; create it first"
    ),
  ])
  func mistakesAreNamed(arguments: [String], message: String) throws {
    let run = try folder().run(["timeline", "@t.annals"] + arguments)
    #expect(run.status != .done)
    #expect(run.errors.contains(message), "\(run)")
  }

  /// From the first moment of all to the last.
  @Test func extremeDatesAreShown() throws {
    let folder = try folder()
    let (first, last) = ("-290308-12-21T19:59:05.224192Z", "+294247-01-10T04:00:54.775807Z")
    let changes = [(first, last), (last, first), (first, first), (last, last)].enumerated().map {
      #"{"op":"insert","entity":"Trip","id":"\#($0)","set":{"from":"\#($1.0)","to":"\#($1.1)"}}"#
    }
    let open = #"{"op":"insert","entity":"Trip","id":"open","set":{"from":"\#(last)"}}"#
    try folder.write(
      #"{"changes":[\#((changes + [open]).joined(separator: ","))]}"#, to: "x.jsonl")
    #expect(folder.run("import", "@t.annals", "@x.jsonl").status == .done)
    let timeline = [
      "timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--open",
      "nil",
    ]
    for more in [
      [], ["--format", "jsonl"], ["--svg", "-"], ["--from", "9999"], ["--to", "0000"],
    ] {
      let run = folder.run(timeline + more)
      #expect(run.status == .done && !run.output.isEmpty, "\(run)")
    }
    let text = folder.run(timeline + ["--from", "9999"]).output
    #expect(text.contains("for 584554 years"), "\(text)")
    #expect(text.contains("  in 292227 years"), "\(text)")
  }

  /// README.md shows what the command draws.
  @Test func theDocumentedPictureIsDrawn() throws {
    let folder = try CommandFolder()
    folder.now = Timestamp(microseconds: 1_795_000_000_000_000)
    folder.run("import", "@d.annals", packageFolder.appending(path: "Fixtures/diary.jsonl").path)
    let timeline = [
      "timeline", "@d.annals", "--entity", "Entry", "--start", "start", "--end", "end", "--open",
      "flag:isOngoing",
    ]
    let picture = folder.run(
      timeline + ["--group", "about", "--from", "2019", "--to", "2019", "--svg", "-"])
    let drawn = packageFolder.appending(path: "Docs/timeline.svg")
    #expect(try picture.output == String(contentsOf: drawn, encoding: .utf8), "draw it anew")
    let page = try String(contentsOf: packageFolder.appending(path: "README.md"), encoding: .utf8)
    let rows = folder.run(timeline + ["--from", "2019-10", "--to", "2019-10", "--hide-ongoing"])
    #expect(page.contains(rows.output), "\(rows.output)")
  }

  @Test func aPictureIsWritten() throws {
    let folder = try folder()
    let arguments = [
      "timeline", "@t.annals", "--entity", "Trip", "--start", "from", "--end", "to", "--open",
      "nil",
      "--group", "who",
    ]
    let run = folder.run(arguments + ["--svg", "@x.svg"])
    #expect(run.output == "@x.svg: 4 objects, 3 without a place\n")
    let file = try String(contentsOfFile: folder.file("x.svg"), encoding: .utf8)
    #expect(folder.run(arguments + ["--svg", "-"]).output == file)
    let again = folder.run(arguments + ["--from", "2020", "--svg", "@x.svg"])
    #expect(again.status == .couldNotRun, "\(again)")
    #expect(again.errors.contains("@x.svg exists already; choose another name, or say --force"))
    #expect(try String(contentsOfFile: folder.file("x.svg"), encoding: .utf8) == file)
    #expect(folder.run(arguments + ["--svg", "@x.svg", "--force"]).status == .done)
    // A name that is taken by a link is not free, though the link leads nowhere.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.svg"), withDestinationPath: folder.file("nowhere.svg"))
    for more in [[], ["--force"]] {
      let through = folder.run(arguments + ["--svg", "@link.svg"] + more)
      #expect(through.status == .couldNotRun, "\(through)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("nowhere.svg")))
    #expect(file.contains("ends before it starts"))
    for label in ["Kyoto", "Oslo", "Nara", "Rome"] { #expect(file.contains(label)) }
  }
}
