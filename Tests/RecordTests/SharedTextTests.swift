import Annals
import AnnalsTestSupport
import Foundation
import Testing

private enum Weather: String, AttributeValue, CaseIterable {
  case fog = "a fog that hides the mountains"
  case rain = "a rain that falls all afternoon"
}

private struct Entry: Record, Equatable {
  var place: String
  var note: String?
  var weather: Weather?
  static let entity = RecordEntity(
    "Entry", Entry.init, Property("place", \.place), Property("note", \.note),
    Property("weather", \.weather))
}

/// Whoever reads many records shares their texts, and each record has its own.
@Suite struct SharedTextTests {
  /// Texts that come again, often or never; some differ only where the hash does not look.
  private static func text(_ random: inout SeededRandom, _ kinds: Int) -> String {
    switch random.draw(kinds) {
    case 0: "com.example.source\(10 + random.draw(64))"
    case 1: "the same \(["one", "two", "six"][random.draw(3)]) and the end"
    case 2: ["", "Fog", "fifteen letters", "sixteen letters!", "日本の霧は深い朝"][random.draw(5)]
    case 3: String(repeating: "é", count: 5_000 + random.draw(2))
    default: "https://example.com/articles/\(random.draw(1 << 40))"
    }
  }

  @Test(arguments: [1, 511, 512, 513, 3_000]) func eachRecordHasItsOwn(_ count: Int) throws {
    let store = try Store(.memory, records: Entry.self)
    var random = SeededRandom(seed: UInt64(count))
    var entries: [Entry] = []
    for number in 0..<count {
      // Of the second property nearly every text is another, for a while.
      let isVaried = number % 1_000 < 500
      entries.append(
        Entry(
          place: SharedTextTests.text(&random, 3),
          note: random.draw(5) == 0 ? nil : SharedTextTests.text(&random, isVaried ? 40 : 4),
          weather: random.draw(5) == 0 ? nil : Weather.allCases[random.draw(2)]))
    }
    try store.write { tx in for entry in entries { try tx.insert(entry) } }
    let snapshot = store.snapshot()
    #expect(try snapshot.objects(of: Entry.self).map(\.value) == entries)
    let byPlace = try snapshot.fetch(Fetch(Entry.self).sorted(by: \.place))
    #expect(byPlace.count == count)
    for object in byPlace { #expect(object.value == entries[Int(object.objectID.row) - 1]) }
    let places = entries.map(\.place).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(byPlace.map(\.value.place) == places)
  }
}
