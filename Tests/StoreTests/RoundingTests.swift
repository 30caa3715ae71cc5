import Annals
import Foundation
import Testing

/// What writing a record returns is what reading it returns.
@Suite struct RoundingTests {
  struct Visit: Record, Equatable {
    var name: String
    var begin: Date
    var end: Date?
    static let entity = RecordEntity(
      "Visit", Visit.init,
      Property("name", \.name), Property("begin", \.begin), Property("end", \.end))
  }

  struct Tag: Record, Equatable {
    var visits: [ObjectID]
    static let entity = RecordEntity("Tag", Tag.init, Property("visits", \.visits, to: Visit.self))
  }

  @Test func datesComeBackAsTheyAreStored() throws {
    let store = try Store(.memory, records: Visit.self)
    let fine = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_789)
    var inserted: Object<Visit>?
    var updated: Object<Visit>?
    try store.write { tx in
      inserted = try tx.insert(Visit(name: "a", begin: fine, end: fine))
      try tx.insert(Visit(name: "b", begin: fine, end: nil))
    }
    let first = try #require(inserted)
    #expect(first.value.begin != fine)
    #expect(try store.snapshot().object(Visit.self, first.objectID) == first)
    try store.write { tx in
      updated = try tx.update(first) {
        $0.begin = fine.addingTimeInterval(1)
        $0.end = nil
      }
    }
    #expect(try store.snapshot().object(Visit.self, first.objectID) == updated)
    // A difference below what is stored is no change, and not returned either.
    let token = store.token
    try store.write { tx in
      updated = try tx.update(first) { $0.begin = fine.addingTimeInterval(1) }
    }
    #expect(store.token == token)
    #expect(try store.snapshot().object(Visit.self, first.objectID) == updated)
  }

  @Test func unorderedListsComeBackInTheOrderOfIds() throws {
    let store = try Store(.memory, records: Visit.self, Tag.self)
    try store.write { tx in
      let ids = try (0..<3).map { number in
        try tx.insert(Visit(name: "\(number)", begin: .now, end: nil)).objectID
      }
      let tag = try tx.insert(Tag(visits: [ids[2], ids[0], ids[2]]))
      #expect(tag.visits == [ids[0], ids[2]])
    }
  }
}
