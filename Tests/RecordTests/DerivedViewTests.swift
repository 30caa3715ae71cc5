import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Shelf: Record {
  var name: String
  var count = 0
  var worth = Decimal(0)
  var mean: Decimal?
  var cheapest: Decimal?
  var first: CalendarDay?
  var last: CalendarDay?
  var pages: Double?
  static let entity = RecordEntity(
    "Shelf", Shelf.init, Property("name", \.name).unique(),
    Property("count", \.count).derived(.count(\.books)).indexed(),
    Property("worth", \.worth).derived(.sum(\.books, \.price)),
    Property("mean", \.mean).derived(.average(\.books, \.price)),
    Property("cheapest", \.cheapest).derived(.min(\.books, \.price)),
    Property("first", \.first).derived(.min(\.books, \.read)),
    Property("last", \.last).derived(.max(\.books, \.read)),
    Property("pages", \.pages).derived(.average(\.books, \.pages)))

  static let books = Inverse(\Book.shelf)
}

private struct Book: Record {
  var price: Decimal
  var read: CalendarDay?
  var pages: Int
  var shelf: Reference<Shelf>?
  static let entity = RecordEntity(
    "Book", Book.init, Property("price", \.price), Property("read", \.read),
    Property("pages", \.pages), Property("shelf", \.shelf))
}

private struct Crate: Record {
  var books: [Reference<Book>]
  var worth: Decimal?
  var mean: Decimal?
  static let entity = RecordEntity(
    "Crate", Crate.init, Property("books", \.books, isOrdered: true),
    Property("worth", \.worth).derived(.sum(\.books, \.price)),
    Property("mean", \.mean).derived(.average(\.books, \.price)))
}

private func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }
private func day(_ text: String) -> CalendarDay { CalendarDay(text) ?? .earliest }

/// Derived decimals and days by record types, and what shows derived attributes: blame, timelines,
/// live views, sections and groups.
@Suite struct DerivedViewTests {
  private let store: Store
  private let (red, blue): (Object<Shelf>, Object<Shelf>)

  init() throws {
    store = try Store(
      .memory, records: Shelf.self, Book.self, Crate.self, environment: .fixed())
    (red, blue) = try store.write {
      (try $0.insert(Shelf(name: "red")), try $0.insert(Shelf(name: "blue")))
    }
  }

  @discardableResult
  private func add(
    _ price: String, _ read: String?, _ shelf: Object<Shelf>, author: String? = nil
  ) throws -> Object<Book> {
    try store.write(author: author) {
      try $0.insert(
        Book(
          price: decimal(price), read: read.map(day), pages: 100, shelf: shelf.reference))
    }
  }

  private func shelf(_ object: Object<Shelf>) throws -> Shelf {
    try #require(try store.snapshot().object(Shelf.self, object.objectID)).value
  }

  @Test func decimalsAreExactAndDaysHaveExtremes() throws {
    #expect(try shelf(red).worth == 0 && shelf(red).mean == nil && shelf(red).first == nil)
    let book = try add("0.1", "2019-10-06", red)
    try add("0.2", "2019-10-04", red)
    try add("12.50", nil, red)
    let full = try shelf(red)
    #expect(full.worth == decimal("12.8"))
    #expect(full.cheapest == decimal("0.1"))
    #expect(full.mean.map { ($0 * 3 - decimal("12.8")).magnitude < decimal("1e-30") } == true)
    #expect(full.first == day("2019-10-04") && full.last == day("2019-10-06"))
    #expect(full.pages == 100)
    try store.write { try $0.delete(book) }
    #expect(try shelf(red).worth == decimal("12.7") && shelf(red).last == day("2019-10-04"))
    let crate = try store.write { tx in
      let books = try tx.objects(of: Book.self).map(\.reference)
      return try tx.insert(Crate(books: books + [books[0]]))
    }
    let packed = try #require(try store.snapshot().object(Crate.self, crate.objectID)).value
    #expect(packed.worth == decimal("12.9") && packed.mean == decimal("4.3"))
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test func aSumOfMoreDigitsThanADecimalHasIsRefused() throws {
    try add("1e20", nil, red)
    let refused = #expect(throws: AnnalsError.self) { try add("1e-20", nil, red) }
    #expect(refused?.code == .tooLarge)
    // It names the object whose value that is, not only what it is computed from.
    let message = refused?.message ?? ""
    #expect(message.contains(".worth cannot be computed: ") && !message.contains("average"))
    #expect(try shelf(red).worth == decimal("1e20"))
  }

  @Test func blameNamesTheTransactionThatChangedTheReason() throws {
    try add("1", nil, red, author: "ann")
    try store.write(author: "ben") { try $0.update(red) { $0.name = "ruby" } }
    try add("2", nil, red, author: "cleo")
    let blame = try store.blame(red.objectID)
    let authors = Dictionary(
      blame.map { ($0.property, $0.transaction?.author) }, uniquingKeysWith: { $1 })
    #expect(authors["count"] == "cleo" && authors["worth"] == "cleo" && authors["name"] == "ben")
    #expect(authors["cheapest"] == "ann")
  }

  @Test func aTimelineOfDerivedDays() throws {
    try add("1", "2019-10-06", red)
    try add("1", "2019-10-01", red)
    try add("1", "2019-10-03", blue)
    let spans = Timeline(start: \Shelf.first, end: \.last).labeled(by: \.name)
    func text() throws -> [String] {
      try store.snapshot().timeline(spans).map { "\($0.label) \($0.dateText)" }
    }
    #expect(try text() == ["red 2019-10-01", "blue 2019-10-03", "red 2019-10-06"])
    let token = store.token
    try add("1", "2019-09-30", blue)
    #expect(
      try text() == [
        "blue 2019-09-30", "red 2019-10-01", "blue 2019-10-03", "red 2019-10-06",
      ])
    #expect(try store.snapshot(at: token).timeline(spans).count == 3)
  }

  @Test(.deadline) func aLiveViewMovesWithThem() async throws {
    try add("1", nil, red)
    var updates = store.live(
      Fetch(Shelf.self).sorted(by: \.count).sorted(by: \.name), sections: .by(\.count)
    ).makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(try first.rows.all().map(\.name) == ["blue", "red"])
    #expect(try first.rows.sections().map(\.value) == [0, 1])
    // Only a book is written.
    try add("1", nil, blue)
    try add("1", nil, blue)
    var rows = first.rows
    while try rows.all().map(\.count) != [1, 2] {
      rows = try #require(try await updates.next()).rows
    }
    #expect(try rows.all().map(\.name) == ["red", "blue"])
    #expect(try rows.sections().map(\.value) == [1, 2])
  }

  @Test func groupsAreByThem() throws {
    try add("1", nil, red)
    let green = try store.write { try $0.insert(Shelf(name: "green")) }
    try add("2.5", nil, green)
    let groups = try store.snapshot().groups(
      Fetch(Shelf.self), by: .value(\.count), .sum(\.worth))
    #expect(groups.map(\.key) == [0, 1] && groups.map(\.count) == [1, 2])
    #expect(groups.map(\.values) == [0, decimal("3.5")])
    #expect(try store.snapshot().count(Fetch(Shelf.self).where(\.count == 1)) == 2)
  }
}
