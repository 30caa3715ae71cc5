import Annals
import AnnalsEngine
import AnnalsModel
import Testing

@testable import AnnalsState

/// What a transaction changed is merged into its indexes once, however often it is looked for: a
/// look-up that worked on a copy would merge all of it again, each time.
@Suite struct PendingKeyTests {
  struct Event: Record {
    var id: String
    var day: Int

    static let entity = RecordEntity(
      "Event", Event.init, Property("id", \.id).unique(), Property("day", \.day).indexed())
  }

  /// A way to look for the objects that a transaction made.
  enum Look: CaseIterable {
    case key, typedKey, condition, named, fetch

    /// Whether it may need ordered indexes.
    var isQuery: Bool { self != .key && self != .typedKey }

    func find(_ number: Int, in tx: WriteTransaction) throws -> Int {
      let isDay = Condition.compare("day", .equal, .int(Int64(number)))
      switch self {
      case .key:
        return try tx.object(of: "Event", where: "id", is: .string("\(number)")) == nil ? 0 : 1
      case .typedKey: return try tx.object(Event.self, where: \.id, is: "\(number)") == nil ? 0 : 1
      case .condition: return try tx.count(DynamicFetch("Event").where(isDay))
      case .named: return try tx.count(DynamicFetch("Event").where(isDay))
      case .fetch: return try tx.count(Fetch(Event.self).where(\.day == number))
      }
    }
  }

  @Test(arguments: Look.allCases) func isMergedOnce(_ look: Look) throws {
    let store = try Store(.memory, records: Event.self, environment: .fixed(seed: 5))
    try store.write { tx in
      for number in 1...40 {
        try tx.insert(Event(id: "\(number)", day: number))
        #expect(try look.find(number, in: tx) == 1)
        let table = try #require(tx.reader.state.tables.first)
        #expect(!table.isStale(.unique))
        if look.isQuery { #expect(!table.isStale(.all)) }
      }
    }
  }
}
