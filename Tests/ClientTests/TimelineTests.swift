import Annals
import AnnalsTestSupport
import Foundation
import Testing

// A program that shows journeys.
struct Trip: Record {
  var title: String
  var from: Date
  var to: Date?
  var traveller: String
  static let entity = RecordEntity(
    "Trip", Trip.init, Property("title", \.title), Property("from", \.from),
    Property("to", \.to), Property("traveller", \.traveller))
}

let trips = Timeline(start: \Trip.from, end: \.to, openEnd: .whenEndIsNil)
  .labeled(by: \.title).grouped(by: \.traveller)

func show(_ store: Store, asKnown lastWeek: Token) throws {
  for row in try store.snapshot().timeline(trips) {
    print(row.dateText, row.role, row.label, "for", row.length ?? row.elapsed)
  }
  let then = try store.snapshot(at: lastWeek).timeline(trips.sorted(.descending).hidingEnds())
  for month in then.sections(by: .month) { print(month.label, month.positions.count) }
  let spans = then.intervals()
  print(spans.underWay(at: .now).map(\.label), spans.gaps(inGroup: "Ann"))
}

/// An entity whose dates are texts, with a word for what each object is.
private struct Product: Record {
  enum Kind: String, AttributeValue { case point, span, open }

  var name: String
  var opened: String?
  var closed: String?
  var kind: Kind
  var isShown: Bool
  static let entity = RecordEntity(
    "Product", Product.init, Property("name", \.name), Property("opened", \.opened),
    Property("closed", \.closed), Property("kind", \.kind), Property("shown", \.isShown))
}

/// Tours, and what conditions read beside them.
private struct Guide: Record {
  var name: String
  var isOnDuty: Bool
  static let entity = RecordEntity(
    "Guide", Guide.init, Property("name", \.name), Property("isOnDuty", \.isOnDuty))
}

private struct Tour: Record {
  var from: Date
  var to: Date?
  var guide: Reference<Guide>?
  var others: [Reference<Guide>]
  static let entity = RecordEntity(
    "Tour", Tour.init, Property("from", \.from), Property("to", \.to),
    Property("guide", \.guide), Property("others", \.others))

  static let tickets = Inverse(\Ticket.tour)
}

private struct Ticket: Record {
  var price: Int
  var tour: Reference<Tour>?
  static let entity = RecordEntity(
    "Ticket", Ticket.init, Property("price", \.price), Property("tour", \.tour))
}

/// A clock that is set by hand.
private final class Moment: @unchecked Sendable {
  private let lock = NSLock()
  private var moment: Date

  init(_ date: Date) { moment = date }

  var date: Date {
    get { lock.withLock { moment } }
    set { lock.withLock { moment = newValue } }
  }
}

/// The same trips as an older version of the program had them.
private struct OldTrip: Record {
  var title: String
  var begin: Date
  static let entity = RecordEntity(
    "Trip", OldTrip.init, Property("title", \.title), Property("begin", \.begin))
}

private struct NewTrip: Record {
  var title: String
  var from: Date
  var to: Date?
  var isOngoing: Bool?
  static let entity = RecordEntity(
    "Trip", NewTrip.init, Property("title", \.title),
    Property("from", \.from).renamed(from: "begin"), Property("to", \.to),
    Property("isOngoing", \.isOngoing))
}

@Suite(.deadline) struct TimelineTests {
  private static func date(_ text: String) -> Date {
    (try? Date(text, strategy: .iso8601)) ?? .distantPast
  }

  private static let environment = StoreEnvironment.fixed(
    start: date("2026-11-23T12:00:00Z"), step: 0)

  private func store() throws -> Store {
    let store = try Store(.memory, records: Trip.self, environment: Self.environment)
    try store.write { tx in
      try tx.insert(
        Trip(
          title: "Kyoto", from: Self.date("2019-10-20T08:00:00Z"),
          to: Self.date("2019-10-29T08:00:00Z"), traveller: "Ann"))
      try tx.insert(
        Trip(title: "Oslo", from: Self.date("2026-11-20T12:00:00Z"), to: nil, traveller: "Ann"))
      try tx.insert(
        Trip(
          title: "Nara", from: Self.date("2019-10-22T08:00:00Z"),
          to: Self.date("2019-10-22T08:00:00Z"), traveller: "Ben"))
    }
    return store
  }

  @Test func aProgramShowsThem() throws {
    let store = try store()
    try show(store, asKnown: store.token)
  }

  @Test func rowsOfThePresentAndOfThePast() throws {
    let store = try store()
    let token = store.token
    try store.write { tx in
      try tx.update(Trip.self, where: \.title == "Oslo") {
        $0.to = Self.date("2026-11-22T12:00:00Z")
      }
      try tx.delete(Trip.self, where: \.title == "Kyoto")
    }
    func lines(_ rows: TimelineRows) -> [String] {
      rows.map { "\($0.dateText) \($0.role) \($0.label) \($0.length?.description ?? "-")" }
    }
    #expect(
      lines(try store.snapshot().timeline(trips)) == [
        "2019-10-22T08:00:00Z start Nara 0 seconds", "2019-10-22T08:00:00Z end Nara 0 seconds",
        "2026-11-20T12:00:00Z start Oslo 2 days", "2026-11-22T12:00:00Z end Oslo 2 days",
      ])
    let then = try store.snapshot(at: token).timeline(trips)
    #expect(
      lines(then) == [
        "2019-10-20T08:00:00Z start Kyoto 9 days", "2019-10-22T08:00:00Z start Nara 0 seconds",
        "2019-10-22T08:00:00Z end Nara 0 seconds", "2019-10-29T08:00:00Z end Kyoto 9 days",
        "2026-11-20T12:00:00Z start Oslo 3 days", " ongoing Oslo 3 days",
      ])
    #expect(then.map(\.elapsed.description)[0] == "7 years 1 month")
    #expect(then.gap(after: 0)?.description == "2 days")
    #expect(then.gap(after: 4) == nil)
    let oslo = then[5].objectID
    #expect(then.positions(of: oslo) == [4, 5])
    #expect(then.ordered(TimelineOrder(isDescending: true)).positions(of: oslo) == [0, 1])
    #expect(Set(then.map(\.id)).count == 6)
    #expect(then.ordered(TimelineOrder(), group: "Ben").map(\.label) == ["Nara", "Nara"])
    #expect(then.ordered(TimelineOrder(), group: "Nobody").isEmpty)
    #expect(then.sections(by: .month).map(\.label) == ["2019-10", "2026-11", "ongoing"])
    #expect(then.sections(by: nil).map(\.label) == ["dated", "ongoing"])
  }

  /// A row whose kind, label or group is another by the new timeline is an update, even at its old
  /// place; a row with another role is another row.
  @Test func whatRowsShowChangesWithTheTimeline() async throws {
    let store = try Store(.memory, records: Trip.self, environment: Self.environment)
    try await store.write { tx in
      try tx.insert(
        Trip(
          title: "Oslo", from: Self.date("2026-11-20T12:00:00Z"),
          to: Self.date("2026-11-21T12:00:00Z"), traveller: "Ann"))
    }
    let plain = Timeline(start: \Trip.from, end: \.to).hidingEnds()
    let live = store.live(Timeline(start: \Trip.from))
    var updates = live.makeAsyncIterator()
    #expect(try await updates.next()?.diff.inserts.count == 1)
    live.change(to: plain)
    let range = try #require(try await updates.next()?.diff)
    #expect(range.deletes.count == 1 && range.inserts.count == 1 && range.updates.isEmpty)
    let open = Timeline(start: \Trip.from, openEnd: .whenEndIsNil).hidingEnds().hidingOngoing()
    let others = [
      open, plain, plain.labeled(by: \.title),
      plain.labeled(by: \.title).grouped(by: \.traveller),
    ]
    for timeline in others {
      live.change(to: timeline)
      let update = try #require(try await updates.next())
      #expect(update.diff.updates.map(\.to.position) == [0])
      #expect(update.diff.moves.isEmpty && update.diff.inserts.isEmpty)
    }
    // Another order or filter alone shows nothing else.
    live.change(to: plain.labeled(by: \.title).grouped(by: \.traveller).sorted(.descending))
    try await store.write { tx in
      try tx.update(Trip.self, where: \.title == "Oslo") { $0.title = "Bergen" }
    }
    #expect(try await updates.next()?.diff.updates.count == 1)
  }

  /// Rows of another entity are other rows, even of objects with the same number.
  @Test func aTimelineOfAnotherEntity() async throws {
    let store = try Store(
      .memory, records: Trip.self, Product.self, environment: Self.environment)
    try await store.write { tx in
      let day = Self.date("2026-11-20T12:00:00Z")
      try tx.insert(Trip(title: "Oslo", from: day, to: day, traveller: "Ann"))
      try tx.insert(
        Product(name: "a", opened: "2026", closed: "2027", kind: .span, isShown: true))
    }
    let live = store.live(Timeline(start: \Trip.from, end: \.to), sections: .year)
    var updates = live.makeAsyncIterator()
    #expect(try await updates.next()?.diff.inserts.count == 2)
    live.change(to: Timeline(start: \Product.opened, end: \.closed))
    let update = try #require(try await updates.next())
    #expect(update.diff.deletes.count == 2 && update.diff.inserts.count == 2)
    #expect(update.diff.deletedSections == [0] && update.diff.insertedSections == [0, 1])
    #expect(try update.rows.all().map(\.dateText) == ["2026", "2027"])
  }

  /// A timeline is a live view like any other.
  @Test func aTimelineThatIsLive() async throws {
    let clock = Moment(Self.date("2026-11-23T12:00:00Z"))
    var environment = Self.environment
    environment.now = { clock.date }
    let store = try Store(.memory, records: Trip.self, environment: environment)
    func insert(_ title: String, _ from: String, _ to: String?) throws {
      try store.write { tx in
        try tx.insert(
          Trip(
            title: title, from: Self.date(from), to: to.map { Self.date($0) }, traveller: "Ann"))
      }
    }
    try insert("Oslo", "2026-11-20T12:00:00Z", nil)
    let live = store.live(trips.ongoing(.atNow), sections: .month)
    var updates = live.makeAsyncIterator()
    var shown: [String] = []
    func next() async throws -> [String] {
      let update = try #require(try await updates.next())
      let rows = try update.rows.all().map { "\($0.label) \($0.role)" }
      update.diff.apply(to: &shown) { rows[$0.position] }
      #expect(shown == rows)
      return rows
    }
    #expect(try await next() == ["Oslo start", "Oslo ongoing"])
    try insert("Rome", "2026-11-25T12:00:00Z", "2026-11-28T12:00:00Z")
    #expect(try await next() == ["Oslo start", "Oslo ongoing", "Rome start", "Rome end"])
    clock.date = Self.date("2026-11-26T12:00:00Z")
    live.tick()
    #expect(try await next() == ["Oslo start", "Rome start", "Oslo ongoing", "Rome end"])
    live.change(to: trips.hidingEnds().sorted(.descending))
    #expect(try await next() == ["Oslo ongoing", "Rome start", "Oslo start"])
    live.change(to: trips.where(\.title == "Rome"))
    #expect(try await next() == ["Rome start", "Rome end"])
    try await store.write { tx in
      try tx.update(Trip.self, where: \.title == "Rome") { $0.to = nil }
    }
    let last = try #require(try await updates.next())
    #expect(try last.rows.all().map(\.role) == [.start, .ongoing])
    #expect(last.diff.deletes.map(\.position) == [1])
    #expect(last.diff.inserts.map(\.position) == [1])
    #expect(last.diff.updates.map { last.diff.changedProperties(of: $0) } == [["to"]])
    let sections = try last.rows.sections()
    #expect(sections.map { $0.bucket?.label ?? "ongoing" } == ["2026-11", "ongoing"])
    #expect(last.rows.sections(by: .year).map(\.label) == ["2026", "ongoing"])
    let id = try last.rows[0].objectID
    #expect(try last.rows.positions(of: id) == [0, 1] && last.rows.position(of: id) == 0)
    #expect(last.rows.order == trips.order && last.rows.now == clock.date)
    #expect(last.diff.insertedSections == [1])
    #expect(try live.rows().count == 2)
    try store.close()
    #expect(try await updates.next() == nil)
  }

  /// A property that only the condition reads decides what is in the timeline.
  @Test func theConditionIsFollowed() async throws {
    let store = try Store(.memory, records: Trip.self, environment: Self.environment)
    let day = Self.date("2026-11-20T12:00:00Z")
    let trip = try await store.write { tx in
      try tx.insert(Trip(title: "Oslo", from: day, to: day, traveller: "Ann"))
    }
    let live = store.live(Timeline(start: \Trip.from).where(\.traveller == "Ann"))
    var updates = live.makeAsyncIterator()
    #expect(try #require(try await updates.next()).rows.count == 1)
    try await store.write { tx in try tx.update(trip) { $0.traveller = "Ben" } }
    #expect(try #require(try await updates.next()).rows.isEmpty)
    try await store.write { tx in try tx.update(trip) { $0.traveller = "Ann" } }
    #expect(try #require(try await updates.next()).rows.count == 1)
  }

  /// So does a property of another object, through whatever relationship the condition reads it,
  /// and the condition that says whether an end counts.
  @Test func conditionsOnOtherObjectsAreFollowed() async throws {
    let store = try Store(
      .memory, records: Guide.self, Tour.self, Ticket.self, environment: Self.environment)
    let day = Self.date("2026-11-20T12:00:00Z")
    let (ann, tour) = try await store.write { tx in
      let ann = try tx.insert(Guide(name: "Ann", isOnDuty: true))
      let others = try [tx.insert(Guide(name: "Ben", isOnDuty: true)).reference]
      let tour = try tx.insert(
        Tour(from: day, to: day.addingTimeInterval(9), guide: ann.reference, others: others))
      return (ann, tour)
    }
    let plain = Timeline(start: \Tour.from, end: \.to)
    let conditions: [RecordCondition<Tour>] = [
      .through(\.guide, \.isOnDuty == true), !.through(\.guide, \.name == "Cy"),
      .count(\.tickets) == 0, !.any(\.tickets, \.price > 3),
      !.any(\.others, \.isOnDuty == false),
    ]
    let filtered = conditions.map { plain.where($0) } + [plain.endCounts(where: conditions[0])]
    var views = filtered.map { store.live($0).makeAsyncIterator() }
    /// The number of rows that each timeline has next.
    func expect(_ counts: Int?...) async throws {
      for (index, count) in counts.enumerated() {
        guard let count else { continue }
        let update = try #require(try await views[index].next())
        #expect(update.rows.count == count, "timeline \(index)")
        #expect(try store.snapshot().timeline(filtered[index]).count == count)
      }
    }
    try await expect(2, 2, 2, 2, 2, 2)
    try await store.write { try $0.set(\.isOnDuty, of: ann, to: false) }
    try await expect(0, nil, nil, nil, nil, 1)
    try await store.write { try $0.set(\.name, of: ann, to: "Cy") }
    try await expect(nil, 0, nil, nil, nil, nil)
    try await store.write { try $0.update(ann) { ($0.name, $0.isOnDuty) = ("Ann", true) } }
    try await expect(2, 2, nil, nil, nil, 2)
    let ticket = try await store.write { try $0.insert(Ticket(price: 3, tour: tour.reference)) }
    try await expect(nil, nil, 0, nil, nil, nil)
    try await store.write { try $0.set(\.price, of: ticket, to: 4) }
    try await expect(nil, nil, nil, 0, nil, nil)
    try await store.write { try $0.set(\.tour, of: ticket, to: nil) }
    try await expect(nil, nil, 2, 2, nil, nil)
    try await store.write {
      try $0.update(Guide.self, where: \.name == "Ben") { $0.isOnDuty = false }
    }
    try await expect(nil, nil, nil, nil, 0, nil)
  }

  /// A task that waits for the next update learns of the time, and of another timeline.
  @Test func whoWaitsIsWoken() async throws {
    let clock = Moment(Self.date("2026-11-23T12:00:00Z"))
    var environment = Self.environment
    environment.now = { clock.date }
    let store = try Store(.memory, records: Trip.self, environment: environment)
    try await store.write { tx in
      let days = [("Oslo", "2026-11-20T12:00:00Z"), ("Rome", "2026-11-25T12:00:00Z")]
      for (title, day) in days {
        try tx.insert(
          Trip(
            title: title, from: Self.date(day), to: title == "Rome" ? Self.date(day) : nil,
            traveller: "Ann"))
      }
    }
    let live = store.live(trips.hidingEnds().ongoing(.atNow))
    let (shown, continuation) = AsyncStream<[String]>.makeStream()
    let reading = Task {
      for try await update in live {
        continuation.yield(try update.rows.all().map { "\($0.label) \($0.role)" })
      }
    }
    var lists = shown.makeAsyncIterator()
    #expect(await lists.next() == ["Oslo start", "Oslo ongoing", "Rome start"])
    // By now it has gone to wait.
    try await Task.sleep(for: .milliseconds(50))
    clock.date = Self.date("2026-11-26T12:00:00Z")
    live.tick()
    #expect(await lists.next() == ["Oslo start", "Rome start", "Oslo ongoing"])
    try await Task.sleep(for: .milliseconds(50))
    live.change(to: trips.hidingEnds().hidingOngoing())
    #expect(await lists.next() == ["Oslo start", "Rome start"])
    reading.cancel()
    try await reading.value
  }

  @MainActor @Test func liveRowsForAUserInterface() async throws {
    let store = try store()
    let live = store.live(trips)
    let rows = try LiveRows(live)
    #expect(rows.rows.count == 6 && rows.diff.isEmpty)
    live.change(to: trips.hidingEnds().hidingOngoing())
    while rows.rows.count == 6 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(rows.rows.count == 3 && rows.diff.deletes.count == 3)
    #expect(try rows.rows.all().map(\.label) == ["Kyoto", "Nara", "Oslo"])
    try await store.write { tx in try tx.delete(Trip.self, where: \.title == "Nara") }
    while rows.rows.count == 3 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(rows.diff.deletes.map(\.position) == [1] && rows.failure == nil)
  }

  @Test func questionsOfIntervals() throws {
    let spans = try store().snapshot().timeline(trips).intervals()
    let window = Self.date("2019-10-22T08:00:00Z")..<Self.date("2019-10-23T08:00:00Z")
    #expect(spans.overlapping(window).map(\.label) == ["Kyoto", "Nara"])
    #expect(spans.count(overlapping: window) == 2)
    #expect(spans.underWay(at: Self.date("2040-01-01T00:00:00Z")).map(\.label) == ["Oslo"])
    #expect(
      spans.gaps(inGroup: "Ann") == [
        Self.date("2019-10-29T08:00:00Z")..<Self.date("2026-11-20T12:00:00Z")
      ])
    let overlap = try #require(spans.overlaps().first)
    #expect([overlap.first.label, overlap.second.label] == ["Kyoto", "Nara"])
    #expect(spans.overlaps(inGroup: "Ben").isEmpty)
    let counts = try spans.counts(
      by: .day, in: Self.date("2026-11-19T00:00:00Z")..<Self.date("2026-11-24T00:00:00Z"))
    // Three days until now, from noon to noon.
    #expect(counts.map(\.bucket.label).first == "2026-11-19")
    #expect(counts.map { ($0.count * 6).rounded() } == [0, 1, 2, 2, 1])
    #expect(throws: AnnalsError.self) {
      try spans.counts(
        by: .hour, in: Self.date("0001-01-01T00:00:00Z")..<Self.date("2026-11-24T00:00:00Z"))
    }
  }

  @Test func datesThatAreTextsAndKindsThatAreWords() throws {
    let store = try Store(.memory, records: Product.self, environment: Self.environment)
    try store.write { tx in
      func insert(
        _ name: String, _ opened: String?, _ closed: String?, _ kind: Product.Kind = .span,
        isShown: Bool = true
      ) throws {
        try tx.insert(
          Product(name: name, opened: opened, closed: closed, kind: kind, isShown: isShown))
      }
      try insert("a", "2004", "2019-11-1")
      try insert("b", "2004-05", "2004-05-17", .open)
      try insert("c", "2004-05-17T02:00:00+02:00", "2003")
      try insert("d", nil, "2005")
      try insert("e", "soon", nil)
      try insert("f", "2001", "2002", .point)
      try insert("g", "2000", "2001", isShown: false)
    }
    let products = Timeline(
      start: \Product.opened, end: \.closed,
      openEnd: .kind(\.kind, single: .point, range: .span, ongoing: .open)
    ).labeled(by: \.name)
    let rows = try store.snapshot().timeline(
      products.endCounts(where: \.isShown == true),
      in: try #require(TimeZone(identifier: "Asia/Tokyo")))
    #expect(
      rows.map { "\($0.dateText) \($0.role) \($0.label) \($0.endText)" } == [
        "2000 single g ", "2001 single f ", "2003 end c 2003", "2004 single a 2019-11-1",
        "2004-05 start b ", "2004-05-17T02:00:00+02:00 start c 2003", " ongoing b ",
      ])
    #expect(rows.filter { $0.marks == .unreadableEnd }.map(\.label) == ["a"])
    #expect(rows.filter { $0.marks == .inverted }.map(\.label) == ["c", "c"])
    #expect(rows.unplaced.map(\.reason) == [.noStart, .unreadableStart])
    #expect(rows.intervals().count == 4)
    // As written, whatever the zone.
    #expect(
      rows.sections(by: .year).map(\.label) == ["2000", "2001", "2003", "2004", "ongoing"])
    #expect(
      try store.snapshot().timeline(products.where(\.name == "g")).map(\.role) == [.start, .end])
  }

  /// What a later version of the program added is nil in the past, and a new name is found.
  @Test func aPastOfOtherProperties() throws {
    let store = try Store(.memory, records: OldTrip.self, environment: Self.environment)
    try store.write { tx in
      try tx.insert(OldTrip(title: "Kyoto", begin: Self.date("2019-10-20T08:00:00Z")))
    }
    let token = store.token
    try store.require([NewTrip.self])
    try store.write { tx in try tx.update(NewTrip.self, where: nil) { $0.isOngoing = true } }
    let trips = Timeline(start: \NewTrip.from, end: \.to, openEnd: .flag(\.isOngoing))
      .labeled(by: \.title)
    #expect(try store.snapshot().timeline(trips).map(\.role) == [.start, .ongoing])
    let then = try store.snapshot(at: token).timeline(trips)
    #expect(then.map(\.role) == [.single])
    #expect(then.map(\.label) == ["Kyoto"])
    // By names, those of the time.
    let named = TimelineDefinition("Trip", start: "begin", label: "title")
    #expect(try store.snapshot(at: token).timeline(named).count == 1)
    #expect(throws: AnnalsError.self) { try store.snapshot().timeline(named) }
  }
}
