import Annals
import AnnalsTestSupport
import Foundation
import Testing

// The example of the guide, in "Projections".
struct Entry: Record {
  var title: String
  var timestamp: Date
  static let entity = RecordEntity(
    "Entry", Entry.init, Property("title", \.title), Property("timestamp", \.timestamp))
}

struct EntriesPerDay: Projection, Codable {
  static let name = "entries per day"
  static let version = 1  // another one when the code below comes to mean something else
  var counts: [Int: Int] = [:]  // by days since 1970

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes {
      add(-1, on: try change.before(\Entry.timestamp))
      add(1, on: try change.after(\Entry.timestamp))
    }
  }

  mutating func add(_ step: Int, on moment: Date?) {
    guard let moment else { return }
    let day = Int((moment.timeIntervalSince1970 / 86_400).rounded(.down))
    let count = counts[day, default: 0] + step
    counts[day] = count == 0 ? nil : count
  }
}

extension EntriesPerDay {
  init(base: Snapshot) throws {  // where older history was pruned
    for entry in try base.objects(of: Entry.self) { add(1, on: entry.timestamp) }
  }
}

func busiestDay(_ store: Store, asOf lastWeek: Token) throws -> Int? {
  let then = try store.projection(EntriesPerDay.self, at: lastWeek).counts.count
  let perDay = try store.projection(EntriesPerDay.self).counts  // costs what came since
  print(then, "days then,", perDay.count, "now")
  return perDay.max { $0.value < $1.value }?.key
}
// The end of the example.

/// The projection of the guide compiles, and does what the page says.
@Suite struct ProjectionTests {
  @Test func `the guide shows the example`() throws {
    let article = packageFolder.appending(path: "Sources/Annals/Annals.docc/Projections.md")
    let page = try String(contentsOf: article, encoding: .utf8)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let example = try #require(source.firstRange(of: "struct Entry"))
    let end = try #require(source.firstRange(of: "// The end of the example."))
    let text = source[example.lowerBound..<end.lowerBound]
    #expect(page.contains("```swift\n" + text + "```\n"), "the guide shows another example")
  }

  @Test func `a program counts its days`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    var store = try Store(path: path, records: Entry.self)
    let before = store.token
    let day = { (number: Double) in Date(timeIntervalSince1970: 86_400 * number + 60) }
    let entries = try store.write { tx in
      try [3, 3, 4, 9].map { try tx.insert(Entry(title: "\($0)", timestamp: day($0))) }
    }
    #expect(try busiestDay(store, asOf: before) == 3)
    try store.write { tx in
      try tx.update(entries[1]) { $0.timestamp = day(4) }
      try tx.delete(entries[3])
    }
    #expect(try store.projection(EntriesPerDay.self).counts == [3: 1, 4: 2])
    try store.checkpoint()
    try store.close()
    store = try Store(path: path, records: Entry.self)
    #expect(try store.projection(EntriesPerDay.self).counts == [3: 1, 4: 2])
    try store.prune(store.prunePlan(before: store.token))
    try store.write { tx in try tx.update(entries[0]) { $0.title = "edited" } }
    #expect(try store.projection(EntriesPerDay.self).counts == [3: 1, 4: 2])
    #expect(try store.verify() == [])
    try store.close()
  }
}
