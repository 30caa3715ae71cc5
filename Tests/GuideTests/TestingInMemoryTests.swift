import Annals
import Foundation
import Testing

private struct Entry: Record {
  var title: String
  var date: Date
  static let entity = RecordEntity(
    "Entry", Entry.init, Property("title", \.title), Property("date", \.date))
}

/// The code of *Testing in memory*.
@Suite struct TestingInMemoryTests {
  @Test func aStoreWithoutAFile() throws {
    let store = try Store(.memory, records: Entry.self, environment: .fixed())
    try store.write(author: "test") { tx in
      try tx.insert(Entry(title: "Fog", date: Date(timeIntervalSince1970: 0)))
    }
    let transaction = try store.transaction(2)
    #expect(transaction.timestamp == Date(timeIntervalSince1970: 1_700_000_002))
    #expect(transaction.processName == "test")
  }

  @Test func aClockOfYourOwn() throws {
    var environment = StoreEnvironment.fixed(seed: 7)
    environment.now = { Date(timeIntervalSince1970: 1_500_000_000) }
    let store = try Store(.memory, records: Entry.self, environment: environment)
    try store.write { try $0.insert(Entry(title: "Fog", date: .now)) }
    #expect(try store.snapshot(at: Date(timeIntervalSince1970: 1_600_000_000)).number == 2)
  }
}
