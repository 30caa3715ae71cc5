import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Synchronization
import Testing

struct Venue: Record, Equatable {
  var name: String
  static let entity = RecordEntity("Venue", Venue.init, Property("name", \.name))
}

struct Concert: Record, Equatable {
  var title: String
  var start: Date
  var rating: Int?
  var venue: Reference<Venue>?
  static let entity = RecordEntity(
    "Concert", Concert.init, Property("title", \.title), Property("start", \.start),
    Property("rating", \.rating), Property("venue", \.venue))
}

/// A store of concerts with random changes.
final class LiveLab {
  let store: Store
  private var numbers: SeededRandom

  init(seed: UInt64, at location: StoreLocation = .memory) throws {
    store = try Store(location, records: Concert.self, Venue.self)
    numbers = SeededRandom(seed: seed)
    try store.write { tx in
      for name in ["Uji", "Nara", "Kyoto"] { try tx.insert(Venue(name: name)) }
    }
  }

  func below(_ count: Int) -> Int { numbers.draw(count) }

  static func day(_ number: Int) -> Date {
    Date(timeIntervalSince1970: Double(number) * 86_400)
  }

  func concert() throws -> Concert {
    let venues = try store.snapshot().objects(of: Venue.self)
    return Concert(
      title: ["fog", "mist", "rain", "snow"][below(4)], start: Self.day(below(120)),
      rating: below(4) == 0 ? nil : below(6),
      venue: below(4) == 0 ? nil : Reference(venues[below(venues.count)]))
  }

  /// A transaction of some random changes.
  func change(_ count: Int, author: String = "me") throws {
    try store.write(author: author) { tx in
      for _ in 0..<count {
        let all = try tx.objectIDs(Fetch(Concert.self))
        switch below(8) {
        case 0, 1, 2: try tx.insert(try concert())
        case 3 where !all.isEmpty: try tx.delete(all[below(all.count)])
        case 4:
          let venues = try tx.objects(of: Venue.self)
          let name = ["Uji", "Nara", "Kyoto", "Otsu"][below(4)]
          try tx.update(venues[below(venues.count)]) { $0.name = name }
        default:
          guard !all.isEmpty else { continue }
          let new = try concert()
          let part = below(4)
          try tx.update(Concert.self, all[below(all.count)]) { concert in
            switch part {
            case 0: concert.title = new.title
            case 1: concert.start = new.start
            case 2: concert.venue = new.venue
            default: concert.rating = new.rating
            }
          }
        }
      }
    }
  }

  /// Some fetch, and sections for it or none.
  func fetch() -> (Fetch<Concert>, RecordSections<Concert>?) {
    var fetch = Fetch(Concert.self)
    switch below(4) {
    case 0: fetch = fetch.where(\.rating > 2)
    case 1: fetch = fetch.where(.through(\.venue, \.name != "Nara"))
    default: break
    }
    switch below(4) {
    case 0: fetch = fetch.sorted(by: \.start, .descending)
    case 1: fetch = fetch.sorted(by: .ascending(\.venue, \.name)).sorted(by: \.title)
    case 2: fetch = fetch.sorted(by: \.rating).sorted(by: \.start)
    default: break
    }
    if below(4) == 0 { fetch = fetch.limit(10 + below(20)) }
    if below(5) == 0 { fetch = fetch.offset(below(8)) }
    switch below(4) {
    case 0: return (fetch, .calendar(.month, of: \.start))
    case 1: return (fetch, .by(\.rating))
    case 2: return (fetch, .by(\.rating, order: [4, 1, nil, 9, 0]))
    default: return (fetch, nil)
    }
  }
}

/// The rows that a reader of a live view has, moved on by differences alone.
struct Follower {
  var rows: [Object<Concert>] = []
  var sections: [[ObjectID]] = []

  mutating func apply(_ update: LiveUpdate<Object<Concert>>, _ comment: Comment) throws {
    let list = update.rows
    if update.isInitial {
      rows = []
      sections = []
    }
    try update.diff.apply(to: &rows) { place throws(AnnalsError) in try list[place.position] }
    update.diff.apply(to: &sections) { list.objectIDs[$0.position] }
    #expect(rows == (try list.all()), comment)
    #expect(rows.map(\.objectID) == Array(list.objectIDs), comment)
    if list.hasSections {
      #expect(sections == (try list.sections()).map { Array(list.objectIDs[$0.range]) }, comment)
    }
  }
}

extension RowList {
  fileprivate var hasSections: Bool { sectionCount > 0 }
}

/// Counts calls from any thread.
final class Counter: Sendable {
  private let number = Atomic(0)
  func add() { number.add(1, ordering: .sequentiallyConsistent) }
  var value: Int { number.load(ordering: .sequentiallyConsistent) }
}

extension Store {
  /// `write` where the compiler would take the asynchronous form.
  @discardableResult
  func put<R>(author: String = "me", _ body: (WriteTransaction) throws -> R) throws -> R {
    try write(author: author) { try body($0) }
  }
}
