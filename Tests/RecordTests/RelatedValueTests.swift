import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Album: Record {
  var name: String
  var rank: Int
  var tracks: [Reference<Track>]
  static let entity = RecordEntity(
    "Album", Album.init, Property("name", \.name), Property("rank", \.rank),
    Property("tracks", \.tracks, isOrdered: true))

  static let covers = Inverse(\Cover.album)
}

private struct Track: Record {
  var name: String
  var length: Int?
  var price: Double?
  var date: Date?
  static let entity = RecordEntity(
    "Track", Track.init, Property("name", \.name), Property("length", \.length),
    Property("price", \.price), Property("date", \.date))
}

private struct Cover: Record {
  var size: Int
  var album: Reference<Album>?
  static let entity = RecordEntity(
    "Cover", Cover.init, Property("size", \.size),
    Property("album", \.album).inverse("covers"))
}

/// A bill as an older program knows it.
private struct OldBill: Record {
  var name: String
  var parts: [Reference<OldPart>]
  static let entity = RecordEntity(
    "Bill", OldBill.init, Property("name", \.name), Property("parts", \.parts))
}

private struct OldPart: Record {
  var name: String
  static let entity = RecordEntity("Part", OldPart.init, Property("name", \.name))
}

private struct Bill: Record {
  var name: String
  var parts: [Reference<Part>]
  static let entity = RecordEntity(
    "Bill", Bill.init, Property("name", \.name), Property("parts", \.parts))
}

private struct Part: Record {
  var name: String
  var count: Int?
  var weight: Double?
  var price: Decimal?
  static let entity = RecordEntity(
    "Part", Part.init, Property("name", \.name), Property("count", \.count),
    Property("weight", \.weight), Property("price", \.price))
}

/// Values of all objects behind a to-many relationship or an inverse, in conditions and orders.
@Suite(.deadline) struct RelatedValueTests {
  private let store: Store
  private let tracks: [Object<Track>]

  /// Four albums: of the tracks 1, 2 and 3, of 3 twice, of none, and of one without values.
  init() throws {
    store = try Store(
      .memory, records: Album.self, Track.self, Cover.self, environment: .fixed())
    tracks = try store.write { tx in
      var tracks: [Object<Track>] = []
      for number in 1...3 {
        tracks.append(
          try tx.insert(
            Track(
              name: "t\(number)", length: number * 10, price: Double(number) / 2,
              date: Date(timeIntervalSinceReferenceDate: Double(number)))))
      }
      tracks.append(try tx.insert(Track(name: "bare", length: nil, price: nil, date: nil)))
      let lists = ["all": [0, 1, 2], "twice": [2, 2], "none": [], "bare": [3]]
      for name in ["all", "twice", "none", "bare"] {
        let list = lists[name, default: []].map { tracks[$0].reference }
        let album = try tx.insert(Album(name: name, rank: 1, tracks: list))
        for size in 0..<list.count { try tx.insert(Cover(size: size, album: album.reference)) }
      }
      return tracks
    }
  }

  private func names(_ condition: RecordCondition<Album>) throws -> [String] {
    try store.snapshot().objects(of: Album.self, where: condition).map(\.name)
  }

  private func names(by key: RecordSortKey<Album>) throws -> [String] {
    try store.snapshot().fetch(Fetch(Album.self).sorted(by: key)).map(\.name)
  }

  private func dynamic(_ text: String) throws -> [String] {
    let snapshot = store.snapshot()
    let condition = try Condition(parsing: text, of: "Album", in: snapshot.schema)
    // The text of the condition is the same condition.
    let again = try Condition(parsing: condition.description, of: "Album", in: snapshot.schema)
    #expect(again == condition)
    return try snapshot.fetch(DynamicFetch("Album").where(condition)).map { object in
      if case .string(let name) = object["name"] { name } else { "" }
    }
  }

  @Test func conditionsCompareThem() throws {
    let date = Date(timeIntervalSinceReferenceDate: 2)
    #expect(try names(.max(\.tracks, \.length) == 30) == ["all", "twice"])
    #expect(try names(.min(\.tracks, \.length) < 30) == ["all"])
    #expect(try names(.min(\.tracks, \.date) > date) == ["twice"])
    #expect(try names(.max(\.tracks, \.date) == nil) == ["none", "bare"])
    #expect(try names(.sum(\.tracks, \.length) == 60) == ["all", "twice"])
    #expect(try names(.sum(\.tracks, \.price) <= 0) == ["none", "bare"])
    #expect(try names(.average(\.tracks, \.length) == 20) == ["all"])
    #expect(try names(.average(\.tracks, \.length) != nil) == ["all", "twice"])
    #expect(try names(.max(\.covers, \.size) >= 1) == ["all", "twice"])
    #expect(try names(.sum(\.covers, \.size) == 0) == ["none", "bare"])
    #expect(try names(!(.max(\.tracks, \.length) > 1)) == ["none", "bare"])
  }

  @Test func textsSayThemToo() throws {
    #expect(try dynamic("tracks.@max.length == 30") == ["all", "twice"])
    #expect(try dynamic("tracks.@min.date == nil") == ["none", "bare"])
    #expect(try dynamic("tracks.@sum.price > 1.5 AND covers.@count == 2") == ["twice"])
    #expect(try dynamic("tracks.@avg.length BETWEEN {19, 21}") == ["all"])
    #expect(try dynamic("tracks.@count IN {0, 3}") == ["all", "none"])
    #expect(try dynamic("covers.@sum.size = 0") == ["none", "bare"])
    #expect(try dynamic("ANY covers (album.tracks.@max.length > 1)") == ["all", "twice"])
    for text in [
      "name.@max.length > 1", "tracks.@max > 1", "tracks.@max.name > 'a'", "tracks.@sum.date > 1",
      "tracks.@median.length > 1", "tracks.@max.unknown > 1", "tracks.@max.length > 'a'",
    ] {
      #expect(throws: AnnalsError.self, "\(text)") { try dynamic(text) }
    }
  }

  @Test func ordersSortByThem() throws {
    #expect(try names(by: .ascending(.count(\.tracks))) == ["none", "bare", "twice", "all"])
    #expect(try names(by: .descending(.count(\.covers))) == ["all", "twice", "bare", "none"])
    // Without a value as nil sorts: first, in id order.
    #expect(
      try names(by: .ascending(.min(\.tracks, \.length))) == ["none", "bare", "all", "twice"])
    #expect(
      try names(by: .descending(.max(\.tracks, \.date), nils: .first))
        == ["bare", "none", "twice", "all"])
    #expect(
      try names(by: .descending(.sum(\.tracks, \.price))) == ["twice", "all", "bare", "none"])
    let snapshot = store.snapshot()
    let keys = try SortKey.keys(
      parsing: "-tracks.@avg.length, covers.@count", of: "Album", in: snapshot.schema)
    #expect(keys.map(\.description) == ["-tracks.@avg.length", "covers.@count"])
    let found = try snapshot.fetch(DynamicFetch("Album").sorted(by: keys))
    #expect(found.map { $0["name"] } == ["twice", "all", "none", "bare"])
  }

  @Test func aPastStateHasItsOwn() throws {
    let before = store.token
    try store.write { try $0.set(\.length, of: tracks[0], to: 99) }
    let most = Fetch(Album.self).where(.max(\.tracks, \.length) > 30)
    #expect(try store.snapshot().fetch(most).map(\.name) == ["all"])
    #expect(try store.snapshot(at: before).fetch(most).isEmpty)
    let zero = Fetch(Album.self).where(.sum(\.tracks, \.length) == 0)
    #expect(try store.snapshot(at: 0).fetch(zero).isEmpty)
    #expect(try store.snapshot().fetch(zero).map(\.name) == ["none", "bare"])
  }

  /// A sum over what a past state lacks is 0, as that over no values is.
  @Test func aStateBeforeTheSummedAttributes() throws {
    let store = try Store(
      .memory, records: OldBill.self, OldPart.self, environment: .fixed())
    try store.write { tx in
      let part = try tx.insert(OldPart(name: "part"))
      try tx.insert(OldBill(name: "bill", parts: [part.reference]))
    }
    let then = store.token
    try store.require([Bill.self, Part.self])
    for snapshot in [try store.snapshot(at: then), store.snapshot()] {
      func isMet(_ condition: RecordCondition<Bill>) throws -> Bool {
        try snapshot.count(Fetch(Bill.self).where(condition)) == 1
      }
      #expect(try isMet(.sum(\.parts, \.count) < 5) && !isMet(.sum(\.parts, \.count) != 0))
      #expect(try isMet(.sum(\.parts, \.weight) < 5) && !isMet(.sum(\.parts, \.weight) != 0))
      #expect(try isMet(.sum(\.parts, \.price) < 5))
      #expect(try isMet(.sum(\.parts, \.price) > -5))
      #expect(try isMet(.sum(\.parts, \.price) == 0))
      #expect(try isMet(.sum(\.parts, \.price) <= 0))
      #expect(try isMet(.sum(\.parts, \.price) >= 0))
      #expect(try !isMet(.sum(\.parts, \.price) != 0))
      #expect(try !isMet(.sum(\.parts, \.price) < 0))
      #expect(try !isMet(.sum(\.parts, \.price) > 0))
    }
  }

  @Test func aSumBeyondTheNumbersIsAnError() throws {
    try store.write { tx in
      for track in tracks[..<2] { try tx.set(\.length, of: track, to: .max) }
    }
    let error = #expect(throws: AnnalsError.self) { try names(.sum(\.tracks, \.length) > 1) }
    #expect(error?.code == .tooLarge)
    #expect(try names(.average(\.tracks, \.length) > 1e18) == ["all"])
  }

  @Test func aLiveViewFollowsThem() async throws {
    let fetch = Fetch(Album.self).where(.sum(\.tracks, \.length) > 0)
      .sorted(by: .descending(.max(\.tracks, \.length)), .ascending(.count(\.covers)))
    var rows = store.live(fetch).makeAsyncIterator()
    #expect(try await rows.next()?.rows.all().map(\.name) == ["twice", "all"])
    try await store.write { try $0.set(\.length, of: tracks[1], to: 50) }
    #expect(try await rows.next()?.rows.all().map(\.name) == ["all", "twice"])
    try await store.write { try $0.set(\.length, of: tracks[3], to: 60) }
    #expect(try await rows.next()?.rows.all().map(\.name) == ["bare", "all", "twice"])
    try await store.write { try $0.delete(tracks[1]) }
    #expect(try await rows.next()?.rows.all().map(\.name) == ["bare", "twice", "all"])
    // One cover more, and the order by their count is another.
    try await store.write { tx in
      let twice = try tx.objects(of: Album.self, where: \.name == "twice")[0]
      for size in 5...6 { try tx.insert(Cover(size: size, album: twice.reference)) }
    }
    #expect(try await rows.next()?.rows.all().map(\.name) == ["bare", "all", "twice"])
  }
}
