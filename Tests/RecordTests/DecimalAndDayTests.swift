import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Item: Record {
  var name: String
  var price: Decimal
  var discount: Decimal?
  var due: CalendarDay
  var paid: CalendarDay?
  static let entity = RecordEntity(
    "Item", Item.init, Property("name", \.name).unique(),
    Property("price", \.price).range(0...).default(Decimal(string: "9.99") ?? 0).indexed(),
    Property("discount", \.discount), Property("due", \.due).indexed(.descending),
    Property("paid", \.paid))

  static let orders = Inverse(\Order.item)
}

private struct Order: Record {
  var item: Reference<Item>?
  var sum: Decimal
  static let entity = RecordEntity(
    "Order", Order.init, Property("item", \.item), Property("sum", \.sum))
}

private struct Event: Record {
  var title: String
  var start: CalendarDay
  var end: CalendarDay?
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title), Property("start", \.start),
    Property("end", \.end))
}

private func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }
private func day(_ text: String) -> CalendarDay { CalendarDay(text) ?? .earliest }

/// `Decimal` and `CalendarDay` as properties of records.
@Suite struct DecimalAndDayTests {
  private func made() throws -> Store {
    let store = try Store(.memory, records: Item.self, Order.self)
    try store.write { tx in
      for number in 0..<40 {
        let item = try tx.insert(
          Item(
            name: "i\(number)", price: Decimal(number * 37 % 40) / 8,
            discount: number % 3 == 0 ? nil : decimal("0.\(number)"),
            due: day("2019-0\(1 + number % 9)-1\(number % 10)"),
            paid: number % 4 == 0 ? nil : day("2020-02-29")))
        for part in 0..<number % 3 {
          try tx.insert(Order(item: item.reference, sum: decimal("0.1") * Decimal(part + 1)))
        }
      }
    }
    return store
  }

  @Test func valuesComeBack() throws {
    let store = try Store(.memory, records: Item.self)
    let prices = [
      "0", "12.50", "0.001", "99999999999999999999999999999999999999", "1e127", "1e-127", "123e100",
    ]
    for (number, text) in prices.enumerated() {
      let item = Item(
        name: "\(number)", price: decimal(text), discount: -decimal(text), due: .latest,
        paid: .earliest)
      let id = try store.write { tx in try tx.insert(item) }.objectID
      let found = try #require(try store.snapshot().object(Item.self, id)).value
      #expect(found.price == item.price && found.discount == item.discount, "\(text)")
      #expect(found.due == .latest && found.paid == .earliest)
    }
    #expect(Value(decimal("12.50")) == .decimal(decimal("12.5")))
    #expect(Value.decimal(decimal("-7")).as(Decimal.self) == -7)
    #expect(Value.day(day("2019-10-06")).as(CalendarDay.self) == day("2019-10-06"))
    #expect(Value.day(.latest).as(Date.self) == nil && Value.int(1).as(Decimal.self) == nil)
  }

  @Test func whatIsNoDecimalIsRefused() throws {
    let store = try Store(.memory, records: Item.self)
    for price in [Decimal.nan, .greatestFiniteMagnitude] {
      let error = #expect(throws: AnnalsError.self) {
        try store.write { tx in
          try tx.insert(Item(name: "x", price: price, discount: nil, due: .latest, paid: nil))
        }
      }
      #expect(error?.code == .invalidChange)
      #expect(error?.message.contains("38 digits") == true, "\(error?.message ?? "")")
    }
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        try tx.insert(Item(name: "x", price: -1, discount: nil, due: .latest, paid: nil))
      }
    }
    #expect(error?.violations.map(\.rule) == [.minimum(.decimal(0))])
  }

  @Test func conditionsOrdersAndPredicates() throws {
    let store = try made()
    let all = try store.snapshot().objects(of: Item.self).map(\.value)
    let snapshot = store.snapshot()
    func names(_ fetch: Fetch<Item>) throws -> [String] { try snapshot.fetch(fetch).map(\.name) }
    let limit = decimal("2.5")
    #expect(
      try names(Fetch(Item.self).where(\.price > limit).sorted(by: \.price))
        == all.filter { $0.price > limit }.sorted { $0.price < $1.price }.map(\.name))
    #expect(
      try names(Fetch(Item.self).where(\.price == 1.5))
        == all.filter { $0.price == 1.5 }.map(\.name))
    #expect(
      try Set(names(Fetch(Item.self).where(#Predicate { $0.price <= limit })))
        == Set(all.filter { $0.price <= limit }.map(\.name)))
    let spring = day("2019-04-01")
    #expect(
      try Set(names(Fetch(Item.self).where(\.due >= spring && \.paid != nil)))
        == Set(all.filter { $0.due >= spring && $0.paid != nil }.map(\.name)))
    #expect(
      try Set(names(Fetch(Item.self).where(#Predicate { $0.due < spring })))
        == Set(all.filter { $0.due < spring }.map(\.name)))
    let byDay = try snapshot.fetch(Fetch(Item.self).sorted(by: .descending(\.due))).map(\.due)
    #expect(byDay == all.map(\.due).sorted(by: >))
    #expect(try snapshot.explain(Fetch(Item.self).where(\.price > limit)).contains("index"))
    // By text: digits are those written, and numbers of other kinds compare exactly.
    func count(_ text: String) throws -> Int {
      let condition = try Condition(parsing: text, of: "Item", in: store.schema)
      return try snapshot.count(DynamicFetch("Item").where(condition))
    }
    #expect(try count("price >= 2.50") == all.count { $0.price >= limit })
    #expect(try count("price IN {1.5, 3}") == all.count { [1.5, 3].contains($0.price) })
    let bounds = spring..<day("2019-06-01")
    #expect(
      try count("due >= 2019-04-01 AND due < 2019-06-01") == all.count { bounds.contains($0.due) })
    #expect(throws: AnnalsError.self) { try count("due > 2019-04-01T12:00:00Z") }
    #expect(throws: AnnalsError.self) { try count("price > 1e200") }
  }

  @Test func groupsAndSums() throws {
    let store = try made()
    let all = try store.snapshot().objects(of: Item.self).map(\.value)
    let months = try store.snapshot().groups(
      Fetch(Item.self), by: .each(.month, of: \.due), .sum(\.price), .average(\.discount),
      .maximum(\.paid))
    #expect(months.map(\.key.label) == Set(all.map { String("\($0.due)".prefix(7)) }).sorted())
    for month in months {
      let own = all.filter { "\($0.due)".hasPrefix(month.key.label) }
      #expect(month.count == own.count)
      #expect(month.values.0 == own.reduce(0) { $0 + $1.price })
      let discounts = own.compactMap(\.discount)
      let mean = discounts.isEmpty ? nil : discounts.reduce(0, +) / Decimal(discounts.count)
      let isNear = month.values.1.map { ($0 - (mean ?? 0)).magnitude < decimal("1e-30") }
      #expect(isNear ?? (mean == nil))
      #expect(month.values.2 == own.compactMap(\.paid).max())
    }
    let paid = try store.snapshot().groups(Fetch(Item.self), by: .each(.year, of: \.paid))
    #expect(paid.map { $0.key?.label } == [nil, "2020"] && paid.map(\.count) == [10, 30])
    let weeks = try store.snapshot().groups(Fetch(Item.self), by: .each(.week, of: \.due))
    #expect(weeks.reduce(0) { $0 + $1.count } == 40)
    let prices = try store.snapshot().groups(Fetch(Item.self), by: .value(\.price))
    #expect(prices.map(\.key) == Set(all.map(\.price)).sorted())
    #expect(
      try store.snapshot().count(
        Fetch(Item.self).where(.sum(\.orders, \.sum) > decimal("0.25"))) == 13)
    #expect(
      try store.snapshot().count(
        Fetch(Item.self).where(.max(\.orders, \.sum) == decimal("0.2"))) == 13)
    // A literal does not make the mean of decimals ambiguous, nor does an order by it.
    let means = Fetch(Item.self).where(.average(\.orders, \.sum) > 0)
      .sorted(by: .descending(.average(\.orders, \.sum)))
    #expect(
      try store.snapshot().count(means)
        == store.snapshot().count(Fetch(Item.self).where(.sum(\.orders, \.sum) > 0)))
  }

  @Test func daysAndMoments() throws {
    let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
    let moment = try Date("2019-10-05T18:00:00Z", strategy: .iso8601)
    #expect(CalendarDay(moment, in: zone) == day("2019-10-06"))
    #expect(CalendarDay(moment, in: .gmt) == day("2019-10-05"))
    #expect(
      day("2019-10-06").start(in: zone) == (try Date("2019-10-05T15:00:00Z", strategy: .iso8601)))
    #expect(CalendarDay(Date(timeIntervalSince1970: .infinity), in: .gmt) == nil)
    #expect(CalendarDay(.distantPast, in: zone) != nil)
  }

  @Test func timelinesTakeDays() throws {
    let store = try Store(.memory, records: Event.self)
    let end = day("2019-10-06")
    try store.write { tx in
      try tx.insert(Event(title: "fair", start: day("2019-10-04"), end: end))
      try tx.insert(Event(title: "talk", start: end, end: end))
      try tx.insert(Event(title: "launch", start: day("2019-10-07"), end: nil))
    }
    let events = Timeline(start: \Event.start, end: \.end).labeled(by: \.title)
    let zone = try #require(TimeZone(identifier: "America/New_York"))
    let rows = try store.snapshot().timeline(events, in: zone)
    #expect(rows.map(\.label) == ["fair", "fair", "talk", "launch"])
    #expect(rows.map(\.dateText) == ["2019-10-04", "2019-10-06", "2019-10-06", "2019-10-07"])
    #expect(rows.map(\.role) == [.start, .end, .single, .single])
    #expect(rows.map { $0.length?.description } == ["3 days", "3 days", "1 day", "1 day"])
    #expect(rows[0].span.startDay == day("2019-10-04") && rows[0].span.endDay == end)
    #expect(rows[2].span.marks == .days && rows.gap(after: 0)?.description == "2 days")
    #expect(rows.sections(by: .day).map(\.label) == ["2019-10-04", "2019-10-06", "2019-10-07"])
    let noon = end.start(in: .gmt).addingTimeInterval(43_200)
    #expect(rows.intervals().underWay(at: noon).map(\.label) == ["fair", "talk"])
    #expect(rows.intervals().gaps().isEmpty)
  }

  @Test(.deadline) func liveListsAndTimelinesTakeDays() async throws {
    let store = try Store(.memory, records: Event.self)
    try await store.write { tx in
      try tx.insert(Event(title: "a", start: day("2019-10-04"), end: nil))
    }
    let timeline = Timeline(start: \Event.start, end: \.end).labeled(by: \.title)
    var rows = store.live(timeline, sections: .month).makeAsyncIterator()
    var list = store.live(
      Fetch(Event.self).sorted(by: \.start), sections: .calendar(.month, of: \.start)
    ).makeAsyncIterator()
    #expect(try await rows.next()?.rows.count == 1)
    #expect(try await list.next()?.rows.sections().count == 1)
    try await store.write { tx in
      try tx.insert(Event(title: "b", start: day("2019-11-02"), end: day("2019-11-02")))
      try tx.insert(Event(title: "c", start: day("2019-11-03"), end: day("2019-11-04")))
    }
    let update = try #require(try await rows.next())
    let texts = try update.rows.rows(in: 0..<update.rows.count).map(\.dateText)
    #expect(texts == ["2019-10-04", "2019-11-02", "2019-11-03", "2019-11-04"])
    #expect(try update.rows.sections().count == 2)
    #expect(try await list.next()?.rows.sections().count == 2)
  }
}
