import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// Clocks: how moments are shown, and what becomes of those that go back.
@Suite struct ClockTests {
  @Test func momentsAreShownToTheSecond() throws {
    let folder = try CommandFolder()
    folder.turnClock(by: 123_456)
    folder.run("put", "@a.annals", "Post/a", "title=Fog", "--author", "Ann")
    folder.run("put", "@a.annals", "Post/a", "title=Mist", "--author", "Ann")
    let log = folder.run("log", "@a.annals").output
    #expect(log.contains("transaction 2  2019-10-22 20:15:08 +0200  Ann · annals[311]\n"), "\(log)")
    #expect(log.contains("transaction 1  2019-10-22 20:15:04 +0200  Ann · annals[311]\n"), "\(log)")
    let show = folder.run("show", "@a.annals", "1").output
    #expect(show.hasPrefix("transaction 1  2019-10-22 20:15:04 +0200  Ann"), "\(show)")
    let blame = folder.run("blame", "@a.annals", "Post/a").output
    #expect(blame.contains("2  2019-10-22 20:15:08 +0200  Ann  title"), "\(blame)")
    let plan = folder.run("prune", "@a.annals", "--before", "2", "--dry-run").output
    #expect(plan.contains("from 2019-10-22 20:15:04 +0200 to 2019-10-22 20:15:04 +0200"), "\(plan)")
    // Programs get all of it, and so does whoever reads a date that is data.
    let lines = folder.run("log", "@a.annals", "--format", "jsonl").output
    #expect(lines.contains(#""timestamp":"2019-10-22T18:15:08.123456Z""#), "\(lines)")
    try folder.write(
      #"{"entities":[{"name":"E","attributes":[{"name":"id","type":"string","unique":true,"#
        + #""optional":false},{"name":"day","type":"date"}]}]}"#, to: "s.json")
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"E","id":"a","#
        + #""set":{"day":"2019-10-22T18:15:04.25Z"}}]}"#, to: "c")
    folder.run("import", "@e.annals", "@c", "--schema", "@s.json")
    let object = folder.run("get", "@e.annals", "E/a").output
    #expect(object.contains("2019-10-22 20:15:04.25 +0200"), "\(object)")
  }

  @Test func statCountsTheClocksJumps() throws {
    let folder = try CommandFolder()
    func clock() -> String {
      folder.run("stat", "@a.annals").output.split(separator: "\n")
        .first { $0.hasPrefix("clock") }.map(String.init) ?? ""
    }
    folder.run("put", "@a.annals", "Post/a", "title=one")
    #expect(clock() == "clock         0 jumps back; 0 dated earlier than the one before")
    folder.turnClock(by: -3_600_000_000)
    folder.run("put", "@a.annals", "Post/a", "title=two")
    folder.run("put", "@a.annals", "Post/a", "title=three")
    // Each has the time that the clock showed; only the first is earlier than the one before.
    let one = "clock         1 jump back; 1 dated earlier than the one before"
    #expect(clock() == one)
    let lines = folder.run("log", "@a.annals", "--format", "jsonl").output
    #expect(lines.contains(#""timestamp":"2019-10-22T17:15:12Z""#), "\(lines)")
    let found = folder.run("verify", "@a.annals").output
    #expect(
      found.contains(
        "transaction 2 is of 2019-10-22T17:15:12Z, and its clock had gone back since the one in "
          + "front of it (2019-10-22T18:15:04Z)"), "\(found)")
    folder.turnClock(by: 7_200_000_000)
    folder.run("put", "@a.annals", "Post/a", "title=four")
    #expect(clock() == one)
    #expect(folder.run("compact", "@a.annals").status == .done)
    #expect(clock() == one)
    // Without a checkpoint the transactions themselves say so.
    #expect(folder.run("compact", "@a.annals", "--smallest").status == .done)
    #expect(clock() == one)
    folder.turnClock(by: -3_600_000_000)
    folder.run("put", "@a.annals", "Post/a", "title=five")
    let two = "clock         2 jumps back; 2 dated earlier than the one before"
    #expect(clock() == two)
    #expect(folder.run("compact", "@a.annals", "--smallest").status == .done)
    #expect(clock() == two)
    #expect(folder.run("prune", "@a.annals", "--before", "3", "--yes").status == .done)
    #expect(folder.run("compact", "@a.annals", "--smallest").status == .done)
    #expect(clock() == "clock         2 jumps back; 1 dated earlier than the one before")
    folder.turnClock(by: 7_200_000_000)
    // Timestamps of imports are kept, and are no jumps.
    try folder.write(
      #"{"timestamp":"2001-01-01T00:00:00Z","changes":[]}"#, to: "c")
    folder.run("import", "@a.annals", "@c")
    #expect(clock() == "clock         2 jumps back; 2 dated earlier than the one before")
    #expect(folder.run("verify", "@a.annals").status == .done)
  }
}
