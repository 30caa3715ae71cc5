import Foundation
import Testing

@testable import AnnalsCommand

/// Dates that people type as values, and those that there are not.
@Suite struct DateValueTests {
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"Event","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"date","type":"date"}]}]}"#, to: "s.json")
    try folder.write("", to: "none.jsonl")
    folder.run("import", "@e.annals", "@none.jsonl", "--schema", "@s.json")
    return folder
  }

  /// As in a TOKEN: local time without an offset, a bare day its first moment.
  @Test(arguments: [
    ("2026-01-02", "2026-01-01T23:00:00Z"), ("2019-07-02", "2019-07-01T22:00:00Z"),
    ("2026-01-02 20:15", "2026-01-02T19:15:00Z"),
    ("2026-01-02T20:15:04.5", "2026-01-02T19:15:04.5Z"),
    ("2026-01-02T20:15:04.1234567", "2026-01-02T19:15:04.123456Z"),
    ("2026-01-02T20:15:04.9999999Z", "2026-01-02T20:15:04.999999Z"),
    ("2026-01-02T20:15:04.00000049999999999999999999999999999999999Z", "2026-01-02T20:15:04Z"),
    ("2026-01-02T20:15:04+05:00", "2026-01-02T15:15:04Z"),
    ("2026-01-02T20:15:04Z", "2026-01-02T20:15:04Z"),
    ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ("+294247-01-10T04:00:54.775807Z", "+294247-01-10T04:00:54.775807Z"),
    // As `get` prints them.
    ("-0044-03-15 12:00:00 +0000", "-0044-03-15T12:00:00Z"),
    ("+12345-01-01 01:00:00 +0100", "+12345-01-01T00:00:00Z"),
    ("-0044-03-15", "-0044-03-14T23:00:00Z"),
  ])
  func datesAreTypedAsInATOKEN(typed: String, stored: String) throws {
    let folder = try folder()
    let put = folder.run("put", "@e.annals", "Event/1", "date=\(typed)")
    #expect(put.status == .done, "\(put)")
    let state = folder.run("state", "@e.annals").output
    #expect(state.contains(#""date":"\#(stored)""#), "\(state)")
  }

  private static let range =
    "dates go from -290308-12-21T19:59:05.224192Z to +294247-01-10T04:00:54.775807Z"

  @Test(arguments: [
    ("300000-01-01T00:00:00Z", range), ("+300000-01-01T00:00:00Z", range),
    ("-290309-01-01T00:00:00Z", range), ("+294247-01-10T04:00:54.775808Z", range),
    ("2026-01", "write 2019-10-22T18:15:04Z"), ("2026-02-30", "write 2019-10-22T18:15:04Z"),
    ("soon", "write 2019-10-22T18:15:04Z"),
  ])
  func whatIsNoDateIsToldWhatIs(typed: String, remedy: String) throws {
    let folder = try folder()
    let put = folder.run("put", "@e.annals", "Event/1", "date=\(typed)")
    #expect(put.status != .done)
    let forms = "write 2019-10-22, \"2019-10-22 20:15\", 2019-10-22T18:15:04Z or now"
    let told = remedy == DateValueTests.range ? remedy : forms
    #expect(put.errors.contains("`\(typed)` is no such value; \(told)"), "\(put)")
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"Event","id":"2","set":{"date":"\#(typed)"}}]}"#,
      to: "c.jsonl")
    let imported = folder.run("import", "@e.annals", "@c.jsonl")
    #expect(imported.status == .foundProblems)
    #expect(imported.errors.contains(remedy), "\(imported)")
    try folder.write(#"{"timestamp":"\#(typed)","changes":[]}"#, to: "c.jsonl")
    let dated = folder.run("import", "@e.annals", "@c.jsonl")
    #expect(dated.errors.contains("`timestamp` is not a date of the form 2019-10-22T18:15:04Z"))
    #expect(dated.errors.contains(DateValueTests.range) == (remedy == DateValueTests.range))
  }

  /// A form for machines has one form of dates.
  @Test func anImportTakesNoLocalTime() throws {
    let folder = try folder()
    for date in ["2026-01-02", "2026-01-02 20:15"] {
      try folder.write(
        #"{"changes":[{"op":"insert","entity":"Event","id":"2","set":{"date":"\#(date)"}}]}"#,
        to: "c.jsonl")
      #expect(folder.run("import", "@e.annals", "@c.jsonl").status == .foundProblems)
    }
  }

  @Test(arguments: [
    ("+300000-01-01", "is out of the range of dates: \(range)"),
    ("-300000-01", "is out of the range of dates"),
    ("+294248-01-01T00:00:00Z", "is out of the range of dates"),
    ("-290308-12-21T00:00:00Z", "is no date. Write 2019-10-22, "),
    ("2019-02-30", "is no date. Write 2019-10-22, "), ("2019-13", "is no date. Write "),
    ("300000-01-01", "is no position in history."),
  ])
  func aTOKENOutOfRangeIsToldTheRange(token: String, message: String) throws {
    let folder = try folder()
    for command in [["state", "--at"], ["log", "--since"], ["prune", "--yes", "--before"]] {
      let run = folder.run([command[0], "@e.annals"] + command.dropFirst() + [token])
      #expect(run.status == .usage, "\(run)")
      #expect(run.errors.contains("`\(token)` \(message)"), "\(run)")
    }
    #expect(folder.run("log", "@e.annals", "--since", "0000-01-01").status == .done)
    #expect(folder.run("log", "@e.annals", "--since", "-0044-03").status == .done)
  }
}
