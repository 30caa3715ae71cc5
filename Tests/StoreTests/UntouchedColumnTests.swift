import Annals
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A commit reads the columns that it changes, and no others.
@Suite struct UntouchedColumnTests {
  private let schema = Schema {
    Entity("Note") {
      Attribute("title", .string)
      Attribute("body", .string)
    }
    Entity("Mark") { Attribute("name", .string) }
  }

  @Test func aCommitReadsNoColumnThatItDoesNotChange() throws {
    let files = CountingFiles()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    var random = SeededRandom(seed: 48)
    let store = try Store(location, schema: schema)
    let ids = try store.write { tx in
      try (0..<1_000).map { number in
        let letters = (0..<3_000).map { _ in UInt8(97 + random.below(26)) }
        let body = String(decoding: letters, as: UTF8.self)
        return try tx.insert("Note", ["title": .string("\(number)"), "body": .string(body)])
      }
    }
    try store.close()
    let again = try Store(location, schema: schema)
    // The first write looks at the end of the file.
    try again.write { _ = try $0.insert("Mark") }
    _ = files.takeCounts()
    try again.write { try $0.update(ids[500], ["title": "new"]) }
    // The bodies take two megabytes, and a chunk of them has 64 KiB of text.
    #expect(files.takeCounts().read < 32 << 10)
    try again.write { try $0.update(ids[700], ["body": "new"]) }
    let titles = try again.transaction(again.token.number - 1).changes
    #expect(titles.map { $0.before("title") } == ["500"])
    let bodies = try again.transaction(again.token.number).changes
    #expect(bodies.map { $0.before("body").text?.count } == [3_000])
    #expect(bodies.map { $0.after("body") } == ["new"])
    #expect(try again.problems().isEmpty)
  }
}
