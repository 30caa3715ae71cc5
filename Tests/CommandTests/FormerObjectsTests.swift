import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// `log --object` and `show` of a name tell of every object that had it.
@Suite struct FormerObjectsTests {
  private func numbers(_ folder: CommandFolder, _ arguments: String...) -> [Int] {
    let run = folder.run(["log", "@p.annals", "--format", "jsonl", "--reverse"] + arguments)
    return run.output.split(separator: "\n").compactMap { line in
      Int(line.dropFirst(5).prefix { $0.isNumber })
    }
  }

  @Test func everyLifeOfAKeyIsShown() throws {
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "P/a", "x=1")  // 1
    folder.run("put", "@p.annals", "P/b", "x=1")  // 2
    folder.run("delete", "@p.annals", "P/a")  // 3
    folder.run("put", "@p.annals", "P/a", "x=2")  // 4
    folder.run("put", "@p.annals", "P/a", "x=3")  // 5
    folder.run("put", "@p.annals", "P/b", "id=c")  // 6
    #expect(numbers(folder, "--object", "P/a") == [1, 3, 4, 5])
    #expect(numbers(folder, "--object", "P#1") == [1, 3])
    #expect(numbers(folder, "--object", "P/a", "--type", "insert") == [1, 4])
    #expect(numbers(folder, "--object", "P/a", "--object", "P/c") == [1, 2, 3, 4, 5, 6])
    // What was renamed is found by either name.
    #expect(numbers(folder, "--object", "P/b") == [2, 6])
    #expect(numbers(folder, "--object", "P/c") == [2, 6])
    folder.run("delete", "@p.annals", "P/a")  // 7
    #expect(numbers(folder, "--object", "P/a") == [1, 3, 4, 5, 7])
    let shown = folder.run("show", "@p.annals", "P/a").output
    #expect(shown.hasPrefix("P/a was deleted\n"))
    #expect(shown.contains("transaction 1  ") && shown.contains("transaction 7  "))
    #expect(folder.run("compact", "@p.annals").status == .done)
    #expect(numbers(folder, "--object", "P/a") == [1, 3, 4, 5, 7])
  }

  @Test func aRowThatNeverWasIsNoDeletedObject() throws {
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "P/a", "x=1")
    for command in [["show", "@p.annals", "P#9"], ["log", "@p.annals", "--object", "P#9"]] {
      let run = folder.run(command)
      #expect(run.status == .couldNotRun)
      #expect(
        run.errors == "annals: there is no object P#9, and there never was one\n")
    }
  }

  @Test(.realHistories)
  func theHistoryOfFilesIsWhole() throws {
    let folder = try CommandFolder()
    let data = try #require(HistoryTests.folder)
    #expect(
      folder.run("import", "@p.annals", "\(data)/tz-files.jsonl.gz").status == .done)
    let text = try Data(contentsOf: URL(fileURLWithPath: "\(data)/tz-files.oracle/history.json"))
    let found = try JSONDecoder().decode([Known].self, from: text)
    #expect(found.count == 13)
    for known in found {
      #expect(numbers(folder, "--object", "\(known.entity)/\(known.id)") == known.transactions)
    }
  }

  private struct Known: Decodable {
    var entity: String
    var id: String
    var transactions: [Int]
  }
}
