import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals watch` prints what another process does, and ends when it is interrupted.
@Suite(.deadline) struct WatchTests {
  /// A running `annals watch`.
  private final class Run {
    private let process = Process()
    private let output = ProgramLines()
    private let errors = Pipe()

    init(_ arguments: [String]) throws {
      process.executableURL = try built("annals")
      process.arguments = ["watch"] + arguments
      process.environment = ["TZ": "UTC"]
      // The command does not free everything when it ends by an error, which the sanitizer reports.
      process.environment?["ASAN_OPTIONS"] =
        ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
      process.standardOutput = output.pipe
      process.standardError = errors
      try process.run()
    }

    /// The next line; nil at the end.
    func line() -> String? { output.next() }

    func lines(_ count: Int) -> [String] { (0..<count).compactMap { _ in line() } }

    /// Interrupts it; what it printed after, and how it ended.
    func interrupt() -> (lines: [String], errors: String, status: Int32) {
      process.interrupt()
      return end()
    }

    func end() -> (lines: [String], errors: String, status: Int32) {
      var lines: [String] = []
      while let line = line() { lines.append(line) }
      if Task.isCancelled { process.terminate() }
      process.waitUntilExit()
      let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      return (lines, text, process.terminationStatus)
    }
  }

  private func store(_ folder: CommandFolder) throws -> Store {
    let schema = Schema {
      Entity("Post") {
        Attribute("slug", .string, isUnique: true)
        Attribute("title", .string)
        Attribute("rating", .int64)
      }
      Entity("Person") {
        Attribute("name", .string, isUnique: true)
      }
    }
    let store = try Store(path: folder.file("a.annals"), schema: schema, environment: folder.store)
    try store.write(author: "me") { tx in
      try tx.insert("Post", ["slug": "fog", "title": "Fog", "rating": 2])
      try tx.insert("Post", ["slug": "mist", "title": "Mist", "rating": 4])
    }
    return store
  }

  private func post(_ slug: String, _ store: Store) throws -> ObjectID {
    let found = try store.snapshot().object(of: "Post", where: "slug", is: .string(slug))
    return try #require(found).objectID
  }

  @Test func `steps as text`() throws {
    let folder = try CommandFolder()
    let store = try store(folder)
    let watch = try Run([
      folder.file("a.annals"), "Post", "--where", "rating > 1", "--sort", "-rating",
      "--author-not", "robot",
    ])
    #expect(watch.line() == "watching 2 objects of Post")
    let (fog, mist) = (try post("fog", store), try post("mist", store))
    try store.write(author: "you") { _ = try $0.insert("Person", ["name": "Ann"]) }
    try store.write(author: "you") { try $0.update(fog, ["title": "Dense fog", "rating": 5]) }
    #expect(
      watch.lines(2).map(withoutMoment) == [
        "transaction 4  you · annals[311]",
        "    > 1 → 0  Post/fog  title: \"Fog\" → \"Dense fog\", rating: 2 → 5",
      ])
    try store.write(author: "robot") { try $0.update(mist, ["title": "Mists"]) }
    try store.write(author: "you") { tx in
      try tx.insert("Post", ["slug": "rain", "rating": 3])
      try tx.update(fog, ["rating": 0])
    }
    #expect(
      watch.lines(4).map(withoutMoment) == [
        "transaction 6  you · annals[311]", "    - 0  Post/fog", "    + 1  Post/rain",
        "    ~ 0  Post/mist  title: \"Mist\" → \"Mists\"",
      ])
    let end = watch.interrupt()
    #expect(end.lines == [] && end.errors == "" && end.status == 0)
    try store.close()
  }

  @Test func `steps as lines of JSON`() throws {
    let folder = try CommandFolder()
    let store = try store(folder)
    let watch = try Run([folder.file("a.annals"), "--format", "jsonl", "--steps", "2"])
    #expect(watch.line() == #"{"watching":2,"transaction":2}"#)
    let fog = try post("fog", store)
    try store.write(author: "you") { try $0.update(fog, ["rating": 5]) }
    #expect(
      watch.line()
        == #"{"change":"update","transaction":3,"from":0,"to":0,"properties":["rating"],"object":"#
        + #"{"entity":"Post","id":"fog","rating":5,"slug":"fog","title":"Fog"}}"#)
    try store.write(author: "you") { try $0.delete(fog) }
    let end = watch.end()
    #expect(
      end.lines == [
        #"{"change":"delete","transaction":4,"from":0,"object":"#
          + #"{"entity":"Post","id":"fog","rating":5,"slug":"fog","title":"Fog"}}"#
      ])
    #expect(end.errors == "" && end.status == 0)
    try store.close()
  }

  /// Positions are those in a sorted array before and after, whatever moves past what.
  @Test(arguments: [1, 2] as [UInt64])
  func `positions are those of a sorted array`(_ seed: UInt64) throws {
    let folder = try CommandFolder()
    let store = try store(folder)
    var random = SeededRandom(seed: seed)
    var ratings = ["fog": 2, "mist": 4]
    var rows: [String] {
      ratings.keys.sorted { (-ratings[$0, default: 0], $0) < (-ratings[$1, default: 0], $1) }
    }
    let (text, json) = (
      try Run([folder.file("a.annals"), "Post", "--sort", "-rating,slug"]),
      try Run([
        folder.file("a.annals"), "Post", "--sort", "-rating,slug", "--format", "jsonl",
      ])
    )
    _ = (text.line(), json.line())
    for step in 0..<16 {
      let (before, old) = (rows, ratings)
      try store.write(author: "you") { tx in
        for number in 0...random.below(3) {
          let slug = before[random.below(before.count)]
          if before.count > 4, random.below(4) == 0, ratings[slug] == old[slug] {
            try tx.delete(try post(slug, store))
            ratings[slug] = nil
          } else if random.below(3) == 0 {
            ratings["p\(step) \(number)"] = random.below(9)
            try tx.insert(
              "Post",
              [
                "slug": .string("p\(step) \(number)"),
                "rating": .int(Int64(ratings["p\(step) \(number)"] ?? 0)),
              ])
          } else if let rating = ratings[slug], rating == old[slug] {
            ratings[slug] = rating + 1 + random.below(4)
            try tx.update(
              try post(slug, store), ["rating": .int(Int64(ratings[slug] ?? 0))])
          }
        }
      }
      let after = rows
      guard ratings != old else { continue }
      func place(_ slug: String) -> (from: Int?, to: Int?) {
        (before.firstIndex(of: slug), after.firstIndex(of: slug))
      }
      let changed = Set(before + after).filter { old[$0] != ratings[$0] }
      _ = text.line()
      for _ in changed {
        let line = try #require(text.line())
        let match = try #require(
          line.wholeMatch(of: #/ {4}([-+>~]) (?:(\d+) → )?(\d+)  Post/(p\d+ \d+|\w+).*/#))
        let (from, to) = place(String(match.4))
        let number = Int(match.3)
        #expect(number == (match.1 == "-" ? from : to), "\(line): \(before) to \(after)")
        #expect(match.2.flatMap { Int($0) } == (match.1 == ">" ? from : nil), "\(line): \(before)")
      }
      for _ in changed {
        let line = try #require(json.line())
        let slug = try #require(line.firstMatch(of: #/"id":"([^"]*)"/#)).1
        let (from, to) = place(String(slug))
        let told = [#/"from":(\d+)/#, #/"to":(\d+)/#].map { pattern in
          line.firstMatch(of: pattern).flatMap { Int($0.1) }
        }
        #expect(told == [from, to], "\(line): \(before) to \(after)")
      }
    }
    for watch in [text, json] { #expect(watch.interrupt().lines == []) }
    try store.close()
  }

  /// A store without entities was watched without a word, and so was what came later.
  @Test func `entities that come later`() throws {
    let folder = try CommandFolder()
    let store = try Store(.file(folder.file("a.annals")), creates: true, environment: folder.store)
    let watch = try Run([folder.file("a.annals"), "--steps", "3", "--author-not", "robot"])
    #expect(watch.line() == "watching 0 objects")
    let post = Schema { Entity("Post") { Attribute("slug", .string, isUnique: true) } }
    let person = Schema { Entity("Person") { Attribute("name", .string, isUnique: true) } }
    let fog = try store.write(author: "you") { tx in
      try tx.require(post)
      return try tx.insert("Post", ["slug": "fog"])
    }
    let inserted = ["    + 0  Post/fog"]
    #expect(watch.lines(2).map(withoutMoment) == ["transaction 1  you · annals[311]"] + inserted)
    try store.write(author: "robot") { tx in
      try tx.require(person)
      try tx.insert("Person", ["name": "Ann"])
    }
    try store.write(author: "you") { try $0.delete(fog) }
    let steps = watch.lines(4).map(withoutMoment)
    #expect(
      Set(steps) == [
        "transaction 3  you · annals[311]", "    - 0  Post/fog", "    + 0  Person/Ann",
      ])
    let end = watch.end()
    #expect(end.lines == [] && end.errors == "" && end.status == 0)
    try store.close()
  }

  @Test func `a file that is gone`() throws {
    let folder = try CommandFolder()
    let store = try store(folder)
    let watch = try Run([folder.file("a.annals"), "Post"])
    #expect(watch.line() == "watching 2 objects of Post")
    try FileManager.default.removeItem(atPath: folder.file("a.annals"))
    let end = watch.end()
    let path = folder.file("a.annals")
    #expect(end.errors == "annals: there is no file at \(path); check the path.\n")
    #expect(end.status == 2)
    try? store.close()
  }

  @Test func `what it refuses`() throws {
    let folder = try CommandFolder()
    try store(folder).close()
    #expect(folder.run("watch", "@a.annals", "--where", "rating > 1").status == .usage)
    #expect(folder.run("watch", "@a.annals", "Post", "--steps", "0").status == .usage)
    #expect(folder.run("watch", "@a.annals", "Post", "--where", "rtaing > 1").status == .usage)
    #expect(
      folder.run("watch", "@a.annals", "Pots").errors.contains(
        "no entity Pots; did you mean Post?"))
  }

  /// The line without the time of the transaction.
  private func withoutMoment(_ line: String) -> String {
    line.replacing(#/\ \ \d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d\ \S+\ \ /#, with: "  ")
  }
}
