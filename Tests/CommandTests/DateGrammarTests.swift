import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// One grammar of dates: in TOKENs, DATE options, values, conditions, texts and imports.
@Suite struct DateGrammarTests {
  /// Days as dates and as texts, of long ago and far ahead.
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"Event","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"date","type":"date"},{"name":"text","type":"string"}]}]}"#, to: "s.json")
    let days = ["-0044-03-15", "2016-12-31T23:59:60Z", "2019-10-22", "+12004-05-17"]
    let lines = days.enumerated().map { number, day in
      let date = day.contains("T") ? day : "\(day)T00:00:00Z"
      return #"{"changes":[{"op":"insert","entity":"Event","id":"\#(number)","#
        + #""set":{"date":"\#(date)","text":"\#(day)"}}]}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "e.jsonl")
    let run = folder.run("import", "@e.annals", "@e.jsonl", "--schema", "@s.json")
    #expect(run.status == .done, "\(run)")
    return folder
  }

  @Test func leapSecondsAreTheNextSecond() throws {
    let folder = try folder()
    let state = folder.run("state", "@e.annals").output
    #expect(state.contains(#""date":"2017-01-01T00:00:00Z","entity":"Event","id":"1""#), "\(state)")
  }

  private func found(_ folder: CommandFolder, _ arguments: String...) -> [String] {
    let run = folder.run(
      ["query", "@e.annals", "Event", "--format", "jsonl", "--where"] + arguments)
    #expect(run.status == .done, "\(run)")
    return run.output.split(separator: "\n").compactMap {
      $0.firstMatch(of: /"id":"(\d)"/).map { String($0.1) }
    }
  }

  @Test func conditions() throws {
    let folder = try folder()
    #expect(found(folder, "date < 0000-01-01") == ["0"])
    #expect(found(folder, "date > +10000-01-01") == ["3"])
    #expect(found(folder, #"date == "-0044-03-15 00:00:00 +0000""#) == ["0"])
    #expect(found(folder, "date == 2016-12-31T23:59:60Z") == ["1"])
    #expect(found(folder, "date BETWEEN {-0045-01-01, 2018-01-01}") == ["0", "1"])
    for text in ["date > 2019-10", "date > 20191022", #"date > "2019-W43-2""#] {
      let run = folder.run("query", "@e.annals", "Event", "--where", text)
      #expect(run.status != .done && run.errors.contains("2019-"), "\(run)")
    }
  }

  /// An age in a condition is that of an option.
  @Test func conditionsInRelationToNow() throws {
    let folder = try folder()
    #expect(found(folder, "date > now") == ["3"])
    #expect(found(folder, "date < yesterday AND date > 20y") == ["1"])
    #expect(found(folder, "date > '99y' AND date <= now") == ["1", "2"])
    #expect(found(folder, "date > '99y' AND date < today") == ["1"])
    #expect(found(folder, "date > 12h") == ["3"] && found(folder, "date > 1d") == ["2", "3"])
    let wrong = folder.run("query", "@e.annals", "Event", "--where", "text > 7d")
    #expect(wrong.errors.contains("7d is an age"), "\(wrong)")
  }

  @Test func timelines() throws {
    let folder = try folder()
    func shown(_ start: String, _ options: String...) -> [Substring] {
      let run = folder.run(
        ["timeline", "@e.annals", "--entity", "Event", "--start", start, "--format", "jsonl"]
          + options)
      #expect(run.status == .done && run.errors == "", "\(run)")
      return run.output.matches(of: /Event\/(\d)/).map { $0.1 }
    }
    for start in ["date", "text"] {
      #expect(shown(start) == ["0", "1", "2", "3"], "\(start)")
      #expect(shown(start, "--from", "-0044", "--to", "-0044") == ["0"], "\(start)")
      #expect(shown(start, "--from", "-0044-04", "--to", "2017") == ["1"], "\(start)")
      #expect(shown(start, "--from", "+12004-05") == ["3"], "\(start)")
      #expect(shown(start, "--from", "1y", "--to", "now") == ["2"], "\(start)")
      #expect(shown(start, "--from", "yesterday", "--to", "today") == ["2"], "\(start)")
      #expect(shown(start, "--to", "90m") == ["0", "1", "2"], "\(start)")
    }
    let bad = folder.run(
      "timeline", "@e.annals", "--entity", "Event", "--start", "date", "--from", "2019-W43")
    #expect(bad.status == .usage && bad.errors.contains("`2019-W43` is no date. Write 2019, "))
  }

  @Test func values() throws {
    let folder = try folder()
    for (typed, stored) in [
      ("now", "2019-10-22T18:20:00Z"), ("today", "2019-10-21T22:00:00Z"),
      ("yesterday", "2019-10-20T22:00:00Z"), ("90m", "2019-10-22T16:50:00Z"),
      ("+12004-05-17", "+12004-05-16T23:00:00Z"), ("-0044-03-15", "-0044-03-14T23:00:00Z"),
    ] {
      let put = folder.run("put", "@e.annals", "Event/x", "date=\(typed)")
      #expect(put.status == .done, "\(put)")
      let state = folder.run("get", "@e.annals", "Event/x", "--format", "jsonl").output
      #expect(state.contains(#""date":"\#(stored)""#), "\(typed): \(state)")
    }
    for typed in ["20191022T181504Z", "2019-W43-2", "2019", "2019-10"] {
      let put = folder.run("put", "@e.annals", "Event/x", "date=\(typed)")
      #expect(put.errors.contains("write 2019-10-22, "), "\(put)")
    }
  }

  @Test func tokens() throws {
    let folder = try folder()
    let basic = folder.run("state", "@e.annals", "--at", "20191022")
    #expect(
      basic.errors.contains(
        "there is no transaction 20191022 yet: the newest is 4. Digits alone are a number: the "
          + "date is 2019-10-22."),
      "\(basic)")
    for token in ["20191022T181504Z", "2019-W43-2"] {
      let run = folder.run("log", "@e.annals", "--after", token)
      #expect(run.status == .usage, "\(run)")
      #expect(
        run.errors.contains("a date (2019-10-22, 2019-10, 2019-10-22 20:15, 2019-10-22T20:15:04"),
        "\(run)")
    }
    #expect(folder.run("log", "@e.annals", "--after", "-0044-03-15", "--oneline").status == .done)
  }

  /// What is later than now is read as now, and said so, once.
  @Test func datesLaterThanNow() throws {
    let folder = try folder()
    let whole = folder.run("state", "@e.annals")
    let note = "annals: note: 2040-01-01 is later than now, and is read as now\n"
    var run = folder.run("state", "@e.annals", "--at", "2040-01-01")
    #expect(run.output == whole.output && run.errors == note, "\(run)")
    run = folder.run("log", "@e.annals", "--until", "2040-01-01", "--oneline")
    #expect(run.errors == note && run.output.split(separator: "\n").count == 4, "\(run)")
    // Today ends later than now, and is not later.
    for token in ["today", "2019-10-22", "2019-10", "now"] {
      run = folder.run("state", "@e.annals", "--at", token)
      #expect(run.output == whole.output && run.errors == "", "\(run)")
    }
    run = folder.run("state", "@e.annals", "--at", "yesterday")
    #expect(run.output == "" && run.errors == "", "\(run)")
  }
}
