import Foundation
import Testing

@testable import AnnalsCommand

/// `annals log` between dates, and that it agrees with the state as of a date.
@Suite struct LogDateTests {
  /// Transactions of 2001 to 2005 by their number, one of them of 2040 and one behind its time.
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    let years = [2001, 2002, 2040, 2003, 1970, 2004, 2005]
    let lines = years.enumerated().map { number, year in
      #"{"timestamp":"\#(year)-06-01T00:00:00Z","changes":[{"op":"insert","entity":"E","#
        + #""id":"\#(number + 1)"}]}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "e.jsonl")
    let run = folder.run("import", "@e.annals", "@e.jsonl")
    #expect(
      run.errors.contains(
        "dated 2040-06-01 01:00:00 +0100, in the future: until then its date does not count"),
      "\(run)")
    return folder
  }

  private func numbers(_ folder: CommandFolder, _ options: String...) -> [Int] {
    let run = folder.run(["log", "@e.annals", "--reverse", "--format", "jsonl"] + options)
    #expect(run.status == .done, "\(run)")
    return run.output.matches(of: /(?m)^\{"n":(\d+)/).compactMap { Int($0.1) }
  }

  @Test func sinceAndUntil() throws {
    let folder = try folder()
    #expect(numbers(folder, "--since", "2002-01", "--until", "2003-12") == [2, 4])
    #expect(numbers(folder, "--since", "2002-06-01", "--until", "2002-06-01") == [2])
    let exact = "2003-06-01T00:00:00Z"
    #expect(numbers(folder, "--since", exact, "--until", exact) == [4])
    #expect(numbers(folder, "--since", "2004-01") == [6, 7])
    #expect(numbers(folder, "--until", "2002-12") == [1, 2, 5])
    #expect(numbers(folder, "--since", "2010-01") == [])
    #expect(numbers(folder, "--since", "3", "--until", "4") == [3, 4])
    let wrong = folder.run("log", "@e.annals", "--since", "2003-01", "--until", "2002-12")
    #expect(
      wrong.errors.contains("--since 2003-01 is later than --until 2002-12: exchange the two"))
  }

  /// The last transaction of `log` up to now is that of the state as of now, and so in between.
  @Test func agreesWithTheStateAsOfADate() throws {
    let folder = try folder()
    func objects(_ date: String) -> Int {
      folder.run("state", "@e.annals", "--at", date).output.matches(of: /"id":/).count
    }
    for (date, number) in [
      ("now", 7), ("today", 7), ("2019-01", 7), ("2005-12", 7), ("2004-12", 6), ("2003-12", 5),
      ("2002-12", 2), ("2001-12", 1),
    ] {
      #expect(objects(date) == number, "\(date)")
      #expect(numbers(folder, "base..\(date)").last == number, "\(date)")
      #expect(numbers(folder, "--after", date).first ?? 8 == number + 1, "\(date)")
      // A step back may be listed that the state before it does not have.
      let counted = numbers(folder, "--until", date).filter { $0 != 5 }
      #expect(counted == (1...number).filter { $0 != 3 && $0 != 5 }, "\(date)")
    }
    for (date, last) in [("2004-06-01", 5), ("2004-06-02", 6), ("2002-06-01", 1)] {
      #expect(numbers(folder, "--before", date).last == last, "\(date)")
    }
  }

  /// Between one transaction and the next there is none; that is no mistake.
  @Test func nothingIsBetweenATransactionAndTheNext() throws {
    let folder = try folder()
    #expect(numbers(folder, "--after", "3", "--before", "5") == [4])
    #expect(numbers(folder, "--after", "3", "--before", "4") == [])
    #expect(numbers(folder, "--after", "3", "--before", "3") == [])
    let turned = folder.run("log", "@e.annals", "--after", "4", "--before", "3")
    #expect(
      turned.errors.contains("--after 4 is later than --before 3: exchange the two"), "\(turned)")
  }
}
