import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Shelf: Record {
  var rank: Int
  var books: [Reference<Book>]
  static let entity = RecordEntity(
    "Shelf", Shelf.init, Property("rank", \.rank),
    // What is deleted stays listed, and counts no more.
    Property("books", \.books, isOrdered: true).onDelete(.keep))

  static let notes = Inverse(\Note.shelf)
}

private struct Book: Record {
  var pages: Int?
  var price: Double?
  static let entity = RecordEntity(
    "Book", Book.init, Property("pages", \.pages), Property("price", \.price))
}

private struct Note: Record {
  var weight: Int?
  var shelf: Reference<Shelf>?
  static let entity = RecordEntity(
    "Note", Note.init, Property("weight", \.weight),
    Property("shelf", \.shelf).inverse("notes"))
}

private struct Town: Record {
  var name: String
  var rank: Int
  static let entity = RecordEntity(
    "Town", Town.init, Property("name", \.name).displayName(), Property("rank", \.rank))
}

private struct Stay: Record {
  var day: Date
  var town: Reference<Town>?
  static let entity = RecordEntity(
    "Stay", Stay.init, Property("day", \.day), Property("town", \.town).onDelete(.keep))

  static let bills = Inverse(\Bill.stay)
}

private struct Bill: Record {
  var sum: Int
  var stay: Reference<Stay>?
  static let entity = RecordEntity(
    "Bill", Bill.init, Property("sum", \.sum), Property("stay", \.stay).inverse("bills"))
}

/// Functions of several objects, in conditions and orders, against a plain loop; live views of them
/// against fetches.
@Suite(.deadline) struct RelatedValueModelTests {
  @Test(arguments: 1...6) func everyFetchIsThatOfALoop(_ seed: Int) async throws {
    let lab = try ShelfLab(seed: UInt64(seed))
    let fetch = Fetch(Shelf.self).where(
      .sum(\.books, \.pages) > 2 || .max(\.notes, \.weight) == nil
    ).sorted(by: .descending(.max(\.books, \.pages)), .ascending(.count(\.notes)))
    var live = lab.store.live(fetch).makeAsyncIterator()
    var shown = try await live.next()?.rows.all().map(\.id)
    for _ in 0..<40 {
      try lab.change()
      try lab.compare()
      let wanted = try lab.store.snapshot().fetch(fetch).map(\.id)
      guard wanted != shown else { continue }
      shown = try await live.next()?.rows.all().map(\.id)
      try #require(shown == wanted, "seed \(seed) at \(lab.store.token.number)")
    }
  }

  /// Sections by what an inverse gives: what changes behind it moves the rows.
  @Test(arguments: 1...6) func everySectionIsThatOfALoop(_ seed: Int) async throws {
    let lab = try ShelfLab(seed: UInt64(seed))
    let fetch = Fetch(Shelf.self).sorted(by: .descending(.max(\.books, \.pages)))
    let byCount = RecordSections<Shelf>.by(.count(\.notes), order: [2, 0])
    let byWeight = RecordSections<Shelf>.by(.max(\.notes, \.weight), order: [1])
    var live = (
      lab.store.live(fetch, sections: byCount).makeAsyncIterator(),
      lab.store.live(fetch, sections: byWeight).makeAsyncIterator()
    )
    var sections = ([[ObjectID]](), [[ObjectID]]())
    for _ in 0..<40 {
      let counts = try lab.sections([2, 0], { $0.notes })
      while sections.0 != counts {
        let update = try #require(try await live.0.next())
        update.diff.apply(to: &sections.0) { update.rows.objectIDs[$0.position] }
      }
      let weights = try lab.sections([1], { $0.weights.max() })
      while sections.1 != weights {
        let update = try #require(try await live.1.next())
        update.diff.apply(to: &sections.1) { update.rows.objectIDs[$0.position] }
      }
      try lab.change()
    }
  }

  /// What a row of a timeline shows of other objects, and nothing else of them, is an update of it.
  @Test func labelsOfATimelineAreFollowed() async throws {
    let store = try Store(.memory, records: Stay.self, Town.self, Bill.self)
    let (nara, stay) = try await store.write { tx in
      let nara = try tx.insert(Town(name: "Nara", rank: 1))
      return (nara, try tx.insert(Stay(day: .now, town: Reference(nara))))
    }
    func labels(_ update: LiveUpdate<TimelineRow>?) throws -> [String] {
      try #require(update).rows.all().map(\.label)
    }
    var named = store.live(Timeline(start: \Stay.day).labeled(by: \.town)).makeAsyncIterator()
    var counted = store.live(
      Timeline(start: \Stay.day).labeled(by: .count(\.bills)).grouped(by: \.town)
    ).makeAsyncIterator()
    var summed = store.live(Timeline(start: \Stay.day).labeled(by: .sum(\.bills, \.sum)))
      .makeAsyncIterator()
    #expect(try await labels(named.next()) == ["Nara"])
    #expect(try await labels(counted.next()) == ["0"])
    #expect(try await labels(summed.next()) == ["0"])
    try await store.write { try $0.set(\.rank, of: nara, to: 2) }
    let bill = try await store.write { tx in
      try tx.set(\.name, of: nara, to: "Uji")
      return try tx.insert(Bill(sum: 3, stay: Reference(stay)))
    }
    let update = try #require(try await named.next())
    #expect(try labels(update) == ["Uji"] && update.diff.updates.count == 1)
    #expect(update.diff.moves.isEmpty && update.diff.inserts.isEmpty)
    #expect(update.diff.changedProperties(of: update.diff.updates[0]) == [])
    #expect(try await labels(counted.next()) == ["1"])
    #expect(try await labels(summed.next()) == ["3"])
    try await store.write { try $0.set(\.sum, of: bill, to: 4) }
    #expect(try await labels(summed.next()) == ["4"])
    try await store.write { try $0.delete(bill) }
    #expect(try await labels(summed.next()) == ["0"])
    #expect(try await labels(counted.next()) == ["0"], "a bill's sum is none of its business")
  }
}

private final class ShelfLab {
  typealias Values = (pages: [Int], prices: [Double], weights: [Int], books: Int, notes: Int)

  let store: Store
  private var random: SeededRandom

  init(seed: UInt64) throws {
    store = try Store(
      .memory, records: Shelf.self, Book.self, Note.self, environment: .fixed(seed: seed))
    random = SeededRandom(seed: seed)
    for _ in 0..<10 { try change() }
  }

  private func one<R: Record>(_ type: R.Type, _ tx: WriteTransaction) throws -> ObjectID? {
    let all = try tx.objectIDs(Fetch(type))
    return all.isEmpty ? nil : all[random.below(all.count)]
  }

  private func maybe(_ most: Int) -> Int? { random.below(4) == 0 ? nil : random.below(most) }

  private func list(_ tx: WriteTransaction) throws -> [Reference<Book>] {
    try (0..<random.below(4)).compactMap { _ in try one(Book.self, tx).map { Reference($0) } }
  }

  /// A list of what the same transaction deletes is refused, and changes nothing.
  func change() throws {
    do { try makeChange() } catch let error as AnnalsError where error.code == .invalidChange {}
  }

  private func makeChange() throws {
    try store.write { tx in
      for _ in 0...random.below(3) {
        switch random.below(9) {
        case 0, 1:
          let price = maybe(5).map { Double($0) / 4 }
          try tx.insert(Book(pages: maybe(4), price: price))
        case 2: try tx.insert(Shelf(rank: random.below(3), books: list(tx)))
        case 3, 4:
          let shelf = try one(Shelf.self, tx).map { Reference<Shelf>($0) }
          try tx.insert(Note(weight: maybe(3), shelf: shelf))
        case 5:
          if let id = try one(Shelf.self, tx) {
            let books = try list(tx)
            try tx.update(Shelf.self, id) { $0.books = books }
          }
        case 6:
          if let id = try one(Book.self, tx) {
            let pages = maybe(4)
            try tx.update(Book.self, id) { $0.pages = pages }
          }
        case 7:
          if let id = try one(Note.self, tx) {
            let shelf = try one(Shelf.self, tx).map { Reference<Shelf>($0) }
            try tx.update(Note.self, id) { $0.shelf = shelf }
          }
        default:
          let id =
            random.below(2) == 0 ? try one(Book.self, tx) : try one(Note.self, tx)
          if let id { try tx.delete(id) }
        }
      }
    }
  }

  private func values(_ shelf: Object<Shelf>, _ snapshot: Snapshot) throws -> Values {
    var books: [Book] = []
    for reference in shelf.books {
      if let book = try snapshot[reference] { books.append(book.value) }
    }
    let notes = try snapshot.objects(shelf, \.notes)
    return (
      books.compactMap(\.pages), books.compactMap(\.price), notes.compactMap(\.weight),
      books.count, notes.count
    )
  }

  /// Conditions and orders with what they mean.
  private static let conditions: [(RecordCondition<Shelf>, @Sendable (Values) -> Bool)] = [
    (.count(\.books) == 2, { $0.books == 2 }),
    (.max(\.books, \.pages) > 2, { $0.pages.max().map { $0 > 2 } ?? false }),
    (.max(\.books, \.pages) != 3, { $0.pages.max() != 3 }),
    (.min(\.notes, \.weight) == nil, { $0.weights.min() == nil }),
    (.min(\.notes, \.weight) <= 1, { $0.weights.min().map { $0 <= 1 } ?? false }),
    (.sum(\.books, \.pages) < 3, { $0.pages.reduce(0, +) < 3 }),
    (.sum(\.books, \.price) >= 0.5, { $0.prices.reduce(0, +) >= 0.5 }),
    (.sum(\.notes, \.weight) == 0, { $0.weights.reduce(0, +) == 0 }),
    (
      .average(\.books, \.price) > 0.4,
      { $0.prices.isEmpty ? false : $0.prices.reduce(0, +) / Double($0.prices.count) > 0.4 }
    ),
  ]

  private static let orders: [(RecordSortKey<Shelf>, @Sendable (Values) -> Double?)] = [
    (.ascending(.count(\.books)), { Double($0.books) }),
    (.ascending(.count(\.notes)), { Double($0.notes) }),
    (.ascending(.max(\.books, \.pages)), { $0.pages.max().map(Double.init) }),
    (.ascending(.min(\.notes, \.weight)), { $0.weights.min().map(Double.init) }),
    (.ascending(.sum(\.books, \.price)), { $0.prices.reduce(0, +) }),
    (
      .ascending(.average(\.books, \.pages)),
      { $0.pages.isEmpty ? nil : Double($0.pages.reduce(0, +)) / Double($0.pages.count) }
    ),
  ]

  func compare() throws {
    let snapshot = store.snapshot()
    let all = try snapshot.objects(of: Shelf.self).map { ($0, try values($0, snapshot)) }
    for (place, (condition, holds)) in ShelfLab.conditions.enumerated() {
      let found = try snapshot.fetch(Fetch(Shelf.self).where(condition)).map(\.id)
      try demand(found == all.filter { holds($0.1) }.map(\.0.id), "condition \(place)")
    }
    for (place, (key, value)) in ShelfLab.orders.enumerated() {
      let found = try snapshot.fetch(Fetch(Shelf.self).sorted(by: key)).map(\.id)
      let wanted = all.sorted { a, b in
        let (x, y) = (value(a.1) ?? -1, value(b.1) ?? -1)
        return x != y ? x < y : a.0.id.row < b.0.id.row
      }
      try demand(found == wanted.map(\.0.id), "order \(place)")
    }
  }

  /// The sections that a loop finds, in the order of the listed values and then of the others, each
  /// by falling pages.
  func sections(
    _ order: [Int], _ value: (Values) -> Int?
  ) throws -> [[ObjectID]] {
    let snapshot = store.snapshot()
    let all = try snapshot.objects(of: Shelf.self).map { ($0.objectID, try values($0, snapshot)) }
    let sorted = all.sorted { a, b in
      let (x, y) = (a.1.pages.max() ?? -1, b.1.pages.max() ?? -1)
      return x != y ? x > y : a.0.row > b.0.row
    }
    let groups = Dictionary(grouping: sorted) { value($0.1) }
    let keys = groups.keys.sorted { a, b in
      func place(_ key: Int?) -> Int {
        guard let key else { return -1 }
        return order.firstIndex(of: key) ?? 100 + key
      }
      return place(a) < place(b)
    }
    return keys.map { groups[$0, default: []].map(\.0) }
  }

  private func demand(_ isRight: Bool, _ what: String) throws {
    try #require(isRight, "\(what) at \(store.token.number)")
  }
}
