import Annals
import AnnalsTestSupport
import Foundation
import Testing

private enum Mood: String, AttributeValue, CaseIterable { case calm, glad, tired }

private struct Place: Record {
  var name: String
  var latitude: Double?
  static let entity = RecordEntity(
    "Place", Place.init,
    Property("name", \.name).unique().length(1...80),
    Property("latitude", \.latitude).range(-90...90))
}

private struct Entry: Record {
  var id: UUID
  var title: String
  var mood: Mood
  var pages: Int
  var place: Reference<Place>?
  var companions: [Reference<Place>]

  static let entity = RecordEntity(
    "Entry", Entry.init,
    Property("id", \.id).unique().preservedAfterDeletion(),
    Property("title", \.title).length(1...).renamed(from: "name"),
    Property("mood", \.mood).default(.calm),
    Property("pages", \.pages).default(1).range(0...),
    Property("place", \.place),
    Property("companions", \.companions)
  ).unique(by: \.title, \.place)
}

private struct Shelf: Record {
  var name: String
  var key = ""
  var bookCount = 0
  var pages = 0
  static let entity = RecordEntity(
    "Shelf", Shelf.init,
    Property("name", \.name),
    Property("key", \.key).derived(.normalized(\.name)).unique(),
    Property("bookCount", \.bookCount).derived(.count(\.books)).indexed(.descending),
    Property("pages", \.pages).derived(.sum(\.books, \.pages)))

  static let books = Inverse(\Book.shelf)
}

private struct Book: Record {
  var title: String
  var author: String
  var pages: Int?
  var shelf: Reference<Shelf>?
  var spine = ""
  static let entity = RecordEntity(
    "Book", Book.init,
    Property("title", \.title), Property("author", \.author), Property("pages", \.pages),
    Property("shelf", \.shelf),
    Property("spine", \.spine).derived(version: 1, from: \.author, \.title) { author, title in
      "\(author): \(title)"
    })
}

private struct Loose: Record {
  var id: String
  var mood: String?
  var pages: Int
  static let entity = RecordEntity(
    "Leaf", Loose.init, Property("id", \.id).unique(), Property("mood", \.mood),
    Property("pages", \.pages))
}

private struct Tight: Record {
  var id: String
  var mood: Mood?
  var pages: Int16
  static let entity = RecordEntity(
    "Leaf", Tight.init, Property("id", \.id).unique(), Property("mood", \.mood),
    Property("pages", \.pages).range(0...100))
}

private struct Trip: Record {
  var name: String
  static let entity = RecordEntity("Trip", Trip.init, Property("name", \.name))

  static let stops = Inverse(\Stop.trip)
}

private struct Stop: Record {
  var place: String
  var trip: Reference<Trip>?
  static let entity = RecordEntity(
    "Stop", Stop.init,
    Property("place", \.place), Property("trip", \.trip).onDelete(.cascade))
}

private struct Walk: Record {
  var name: String
  var stops: [Reference<Place>]
  static let entity = RecordEntity(
    "Walk", Walk.init,
    Property("name", \.name), Property("stops", \.stops).count(2...9))
}

private struct Invoice: Record {
  var number: Int
  var total: Decimal
  var due: CalendarDay
  static let entity = RecordEntity(
    "Invoice", Invoice.init,
    Property("number", \.number).unique(),
    Property("total", \.total).range(0...).indexed(),
    Property("due", \.due).indexed())
}

private struct Scan: Record {
  var title: String
  var image: Data?
  static let entity = RecordEntity(
    "Scan", Scan.init, Property("title", \.title), Property("image", \.image))
}

private struct ScanTitle: Record {
  var title: String
  static let entity = RecordEntity("Scan", ScanTitle.init, Property("title", \.title))
}

/// The code of *Records and schemas*.
@Suite struct RecordsAndSchemasTests {
  private struct Checksum {
    var count = 0
    mutating func update(_ bytes: UnsafeRawBufferPointer) { count += bytes.count }
  }

  @Test func valuesOfManyMegabytes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("map")
    try Data(repeating: 7, count: 3_000_000).write(to: folder.url("map"))
    let store = try Store(.memory, records: Scan.self)
    var checksum = Checksum()
    let scan = try store.write { tx in
      let scan = try tx.insert(Scan(title: "Map", image: nil))
      try tx.set(\.image, of: scan, from: ByteInput(contentsOf: path))
      return scan
    }
    if let image = try store.snapshot().bytes(\.image, of: scan) {
      print(image.count)  // reads nothing
      let head = try image.read(0..<16)
      try image.forEachPiece { piece in checksum.update(piece) }
      print(head.count)
    }
    for scan in try store.snapshot().objects(of: ScanTitle.self) { print(scan.title) }
    #expect(checksum.count == 3_000_000)
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(try change.as(Scan.self)?.bytesAfter(\.image)?.count == 3_000_000)
    // The record type without the image leaves it alone.
    let titles = try store.snapshot().objects(of: ScanTitle.self)
    try store.write { tx in try tx.set(\ScanTitle.title, of: titles[0], to: "Plan") }
    #expect(try store.snapshot().bytes(\.image, of: scan)?.count == 3_000_000)
  }

  @Test func deleteRulesAndInverses() throws {
    let store = try Store(.memory, records: Trip.self, Stop.self)
    let japan = try store.write { tx in
      let japan = try tx.insert(Trip(name: "Japan"))
      let nara = try tx.insert(Stop(place: "Nara", trip: nil))
      try tx.add(nara, to: japan, \.stops)
      try tx.insert(Stop(place: "Kyoto", trip: Reference(japan)))
      return japan
    }
    print(try store.snapshot().objects(japan, \.stops).map(\.place))  // ["Nara", "Kyoto"]
    try store.write { tx in try tx.delete(japan) }
    print(try store.snapshot().count(of: Stop.self))  // 0
    #expect(try store.snapshot().count(of: Stop.self) == 0)
  }

  @Test func decimalsAndDays() throws {
    let store = try Store(.memory, records: Invoice.self)
    let today = try #require(CalendarDay("2019-10-22"))
    try store.write { tx in
      for number in 1...3 {
        let due = try #require(today.adding(days: number * 20 - 50))
        try tx.insert(Invoice(number: number, total: Decimal(number) * 100, due: due))
      }
    }
    let snapshot = store.snapshot()
    let late = try snapshot.fetch(
      Fetch(Invoice.self).where(\.due < today && \.total > 100).sorted(by: \.due))
    let months = try snapshot.groups(
      Fetch(Invoice.self), by: .each(.month, of: \.due), .sum(\.total))
    for month in months { print(month.key.label, month.values ?? 0) }
    #expect(late.map(\.number) == [2] && months.map(\.values) == [100, 200, 300])
  }

  @Test func limitsOfReferences() throws {
    let store = try Store(.memory, records: Place.self, Walk.self)
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        let nara = try tx.insert(Place(name: "Nara", latitude: nil))
        try tx.insert(Walk(name: "short", stops: [nara.reference]))
      }
    }
    #expect(error?.violations.map(\.rule) == [.minimumCount(2)])
  }

  @Test func referencesAndRules() throws {
    let store = try Store(.memory, records: Place.self, Entry.self)
    let entry = try store.write { tx in
      let nara = try tx.insert(Place(name: "Nara", latitude: 34.7))
      return try tx.insert(
        Entry(
          id: UUID(), title: "Deer", mood: .glad, pages: 2, place: Reference(nara), companions: []))
    }

    let snapshot = store.snapshot()
    if let place = try snapshot[entry.place] { print(entry.title, "in", place.name) }
    let inNara = try snapshot.objects(
      of: Entry.self, where: .through(\.place, \.name == "Nara"))

    do {
      try store.write { tx in try tx.set(\.pages, of: entry, to: -1) }
    } catch let error as AnnalsError where error.code == .invalidChange {
      print(error.violations[0].property, error.violations[0].rule)
    }

    try store.write(author: "me") { tx in try tx.delete(entry) }
    try store.history(where: .kind(.delete)).forEachChange { change in
      if let tombstone = change.tombstone(as: Entry.self) {
        print("gone:", try tombstone.id?.uuidString ?? "unknown")
      }
    }
    #expect(inNara.map(\.title) == ["Deer"])
    #expect(try store.snapshot().count(of: Entry.self) == 0)
  }

  /// What the table under *How a schema grows* says of stored values.
  @Test func newDeclarationsOverOldData() throws {
    let store = try Store(.memory, records: Loose.self)
    let odd = try store.write { try $0.insert(Loose(id: "odd", mood: "cross", pages: 70_000)) }
    let plain = try store.write { try $0.insert(Loose(id: "plain", mood: "calm", pages: 3)) }
    try store.require([Tight.self])
    #expect(try store.snapshot().object(Tight.self, plain.objectID)?.mood == .calm)
    #expect(throws: AnnalsError.self) { try store.snapshot().object(Tight.self, odd.objectID) }
    // The old value stays, its object can be changed, and new values obey.
    try store.write { try $0.set(\.mood, of: odd, to: "glad") }
    #expect(try store.snapshot().object(Loose.self, odd.objectID)?.pages == 70_000)
    let wide = #expect(throws: AnnalsError.self) {
      try store.snapshot().object(Tight.self, odd.objectID)
    }
    #expect(wide?.code == .unreadableRecord && wide?.message.contains("Int16") == true)
    let broken = #expect(throws: AnnalsError.self) {
      try store.write { try $0.set(\.pages, of: plain, to: 1_000) }
    }
    #expect(broken?.code == .invalidChange)
    try store.write { try $0.set(\.pages, of: odd, to: 5) }
    #expect(try store.snapshot().object(Tight.self, odd.objectID)?.pages == 5)
    #expect(store.schema.entity(named: "Leaf")?.attribute(named: "pages")?.type == .int64)
    // A name that the store never had.
    let before = store.token
    try store.edit(.removeProperty(entity: "Leaf", "page"), .removeEntity("Leave"))
    #expect(store.token == before)
  }

  @Test func derivedAttributes() throws {
    let store = try Store(.memory, records: Shelf.self, Book.self)
    let shelf = try store.write { try $0.insert(Shelf(name: "Été")) }
    let book = try store.write {
      try $0.insert(Book(title: "Fog", author: "Ann", pages: 9, shelf: shelf.reference))
    }
    let found = try store.snapshot().object(
      Shelf.self, where: \.key, is: "ÉTÉ".normalizedForSearch)
    #expect(found?.bookCount == 1 && found?.pages == 9)
    #expect(try store.snapshot().object(Book.self, book.objectID)?.spine == "Ann: Fog")
    #expect(throws: AnnalsError.self) {
      try store.write { try $0.update(shelf) { $0.bookCount = 5 } }
    }
  }

  @Test func editsInEveryRun() throws {
    let store = try Store(
      .memory, schema: Schema { Entity("Visit") { Attribute("pages", .string) } })
    try store.write { _ = try $0.insert("Visit", ["pages": "12"]) }
    try store.edit(.renameProperty(entity: "Visit", "pages", to: "pagesText"))
    try store.require(Schema { Entity("Visit") { Attribute("pages", .int64) } })
    try store.write { tx in
      for visit in try tx.objects(of: "Visit") where visit["pages"].isNull {
        guard case .string(let text) = visit["pagesText"], let pages = Int64(text) else { continue }
        try tx.update(visit.objectID, ["pages": .int(pages)])
      }
    }
    try store.edit(.removeProperty(entity: "Visit", "pagesText"))
    #expect(try store.snapshot().objects(of: "Visit").map { $0["pages"] } == [12])
    let error = #expect(throws: AnnalsError.self) { try store.revert(3) }
    #expect(error?.code == .unsupported)
  }

  @Test func schemasByName() throws {
    let schema = Schema {
      Entity("Entry") {
        Attribute("id", .uuid, isOptional: false, isUnique: true)
        Attribute("title", .string, isOptional: false, default: "untitled")
        Relationship("place", to: "Place")
      }
      Entity("Place") {
        Attribute("name", .string)
      }
    }
    let store = try Store(.memory, schema: schema)
    try store.write { tx in
      let place = try tx.insert("Place", ["name": "Nara"])
      try tx.insert("Entry", ["id": .uuid(UUID()), "place": .object(ObjectReference(place))])
    }
    for entry in try store.snapshot().objects(of: "Entry") { print(entry["title"]) }

    try store.edit(.renameProperty(entity: "Entry", "title", to: "heading"))
    try store.edit(.removeProperty(entity: "Entry", "place"))
    #expect(try store.snapshot().objects(of: "Entry")[0]["heading"] == "untitled")
    #expect(try store.snapshot(at: 2).objects(of: "Entry")[0]["title"] == "untitled")
  }
}
