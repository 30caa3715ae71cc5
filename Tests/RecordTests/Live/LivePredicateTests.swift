import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Live views of predicates and sort descriptors that are evaluated on records: what they show is
/// what filtering and sorting an array of all records gives.
@Suite(.deadline) struct LivePredicateTests {
  /// A fetch, its sections, and the same for an array.
  private struct Wanted: CustomStringConvertible {
    var fetch = Fetch(Concert.self)
    var sections: RecordSections<Concert>?
    var predicates: [Predicate<Concert>] = []
    /// What comes before the descriptors, and behind them.
    var first: [SortDescriptor<Concert>] = []
    var order: [SortDescriptor<Concert>] = []
    var last: [SortDescriptor<Concert>] = []
    var isFalling = false
    var limit: Int?
    var offset = 0
    var description: String { "\(predicates.count) \(order) \(last) \(limit as Any) \(offset)" }

    func rows(in snapshot: Snapshot) throws -> [ObjectID] {
      let found = try snapshot.objects(of: Concert.self).filter { object in
        try predicates.allSatisfy { try $0.evaluate(object.value) }
      }
      let sorted = found.sorted { a, b in
        for descriptor in first + order + last {
          let outcome = descriptor.compare(a.value, b.value)
          if outcome != .orderedSame { return outcome == .orderedAscending }
        }
        return isFalling ? b.objectID.row < a.objectID.row : a.objectID.row < b.objectID.row
      }
      return sorted.dropFirst(offset).prefix(limit ?? .max).map(\.objectID)
    }
  }

  /// The ids of the rows, moved on by differences alone. Records may change without one: a
  /// reference to what was deleted reads as nil.
  private struct IDs {
    var rows: [ObjectID] = []
    var sections: [[ObjectID]] = []

    mutating func apply(
      _ update: LiveUpdate<Object<Concert>>, inSections hasSections: Bool, _ comment: Comment
    ) throws {
      let list = update.rows
      if update.isInitial { sections = [] }
      update.diff.apply(to: &rows) { list.objectIDs[$0.position] }
      update.diff.apply(to: &sections) { list.objectIDs[$0.position] }
      #expect(rows == Array(list.objectIDs), comment)
      if hasSections {
        #expect(sections == (try list.sections()).map { Array(list.objectIDs[$0.range]) }, comment)
      }
    }
  }

  private func wanted(_ lab: LiveLab) -> Wanted {
    var wanted = Wanted()
    let (length, date) = (3 + lab.below(2), LiveLab.day(lab.below(120)))
    switch lab.below(5) {
    case 0: wanted.predicates = [#Predicate { $0.title.count > length }]
    case 1: wanted.predicates = [#Predicate { $0.start > date && $0.title.contains("s") }]
    case 2: wanted.predicates = [#Predicate { $0.venue == nil || $0.title.count > length }]
    case 3:
      wanted.predicates = [
        #Predicate { ($0.rating ?? 0) > 1 }, #Predicate { $0.title != "fog" && $0.title < "snow" },
      ]
    default: break
    }
    for predicate in wanted.predicates { wanted.fetch = wanted.fetch.where(predicate) }
    switch lab.below(4) {
    case 0: wanted.order = [SortDescriptor(\.title)]
    case 1: wanted.order = [SortDescriptor(\.title, order: .reverse), SortDescriptor(\.start)]
    case 2: wanted.order = [SortDescriptor(\.start, order: .reverse), SortDescriptor(\.title)]
    default: break
    }
    wanted.fetch = wanted.fetch.sorted(by: wanted.order)
    wanted.isFalling = wanted.order.last?.order == .reverse
    if lab.below(3) == 0 {
      wanted.fetch = wanted.fetch.sorted(by: \.start, .descending)
      wanted.last = [SortDescriptor(\.start, order: .reverse)]
      wanted.isFalling = true
    }
    if lab.below(4) == 0 { wanted.limit = 5 + lab.below(20) }
    if lab.below(5) == 0 { wanted.offset = lab.below(8) }
    wanted.fetch = wanted.fetch.limit(wanted.limit).offset(wanted.offset)
    switch lab.below(4) {
    case 0:
      wanted.sections = .calendar(.month, of: \.start)
      // A first key of the same is that of the sections.
      wanted.first = wanted.last.isEmpty ? [SortDescriptor(\.start)] : wanted.last
    case 1:
      wanted.sections = .by(\.title)
      wanted.first = [SortDescriptor(\.title, comparator: .lexical)]
    default: break
    }
    return wanted
  }

  /// A transaction that also makes venues, and deletes some to which concerts still refer.
  private func change(_ lab: LiveLab) throws {
    if lab.below(3) == 0 {
      try lab.store.put { tx in
        let venues = try tx.objects(of: Venue.self)
        if venues.count > 2 { try tx.delete(venues[lab.below(venues.count)]) }
        if venues.count < 5 { try tx.insert(Venue(name: "Otsu")) }
      }
      // Deleted ones come back, too.
      if lab.below(3) == 0 { _ = try? lab.store.revert(lab.store.token.number) }
    } else {
      try lab.change(1 + lab.below(4))
    }
  }

  @Test(arguments: 1...14 as ClosedRange<UInt64>, [LiveDelivery.latest, .everyTransaction])
  func `what is evaluated follows a random history`(
    seed: UInt64, delivery: LiveDelivery
  ) async throws {
    let lab = try LiveLab(seed: seed &+ 500)
    try lab.change(50)
    var wanted = wanted(lab)
    let view = lab.store.live(wanted.fetch, sections: wanted.sections, delivery: delivery)
    var iterator = view.makeAsyncIterator()
    var follower = IDs()
    try follower.apply(
      try #require(try await iterator.next()), inSections: wanted.sections != nil,
      "seed \(seed), first")
    for round in 0..<25 {
      let comment: Comment = "seed \(seed), \(delivery), round \(round): \(wanted)"
      for _ in 0..<lab.below(4) { try change(lab) }
      if round % 7 == 6 {
        wanted = self.wanted(lab)
        view.change(to: wanted.fetch, sections: wanted.sections)
        let update = try #require(try await iterator.next(), comment)
        try follower.apply(update, inSections: wanted.sections != nil, comment)
      }
      while follower.rows != (try wanted.rows(in: lab.store.snapshot())) {
        let update = try #require(try await iterator.next(), comment)
        #expect(!update.diff.isEmpty, comment)
        try follower.apply(update, inSections: wanted.sections != nil, comment)
        let then = try lab.store.snapshot(at: update.token)
        let expected = try wanted.rows(in: then)
        #expect(follower.rows == expected, comment)
        guard follower.rows == expected else { return }
        for (place, row) in expected.enumerated() {
          #expect(try update.rows.position(of: row) == place, comment)
        }
      }
      if wanted.sections == nil {
        let fetched = try lab.store.snapshot().objectIDs(wanted.fetch)
        #expect(try fetched == wanted.rows(in: lab.store.snapshot()), comment)
      }
    }
  }

  @Test func `between any two points of history`() throws {
    let lab = try LiveLab(seed: 77)
    var tokens = [lab.store.token]
    for _ in 0..<30 {
      try change(lab)
      tokens.append(lab.store.token)
    }
    for _ in 0..<40 {
      let wanted = wanted(lab)
      let (a, b) = (tokens[lab.below(31)], tokens[lab.below(31)])
      let (old, new) = (try lab.store.snapshot(at: a), try lab.store.snapshot(at: b))
      var rows = try wanted.rows(in: old)
      let list = try new.rows(wanted.fetch, sections: wanted.sections)
      let diff = try lab.store.diff(of: wanted.fetch, sections: wanted.sections, from: a, to: b)
      diff.apply(to: &rows) { list.objectIDs[$0.position] }
      #expect(try rows == wanted.rows(in: new), "\(wanted)")
    }
  }

  @Test func `a predicate that cannot be evaluated ends the wait, and is asked again`() async throws
  {
    let lab = try LiveLab(seed: 5)
    let concert = try lab.store.put { tx in
      try tx.insert(Concert(title: "fog", start: LiveLab.day(1), rating: 3, venue: nil))
    }
    let view = lab.store.live(Fetch(Concert.self).where(#Predicate { $0.rating! > 2 }))
    var iterator = view.makeAsyncIterator()
    #expect(try await iterator.next()?.rows.count == 1)
    try lab.store.put { try $0.set(\.rating, of: concert, to: nil) }
    let error = await #expect(throws: AnnalsError.self) { try await iterator.next() }
    #expect(error?.code == .invalidArgument, "\(error as Any)")
    try lab.store.put { try $0.set(\.rating, of: concert, to: 1) }
    #expect(try await iterator.next()?.diff.deletes.count == 1)
  }

  @Test func `the rows for an interface`() async throws {
    let lab = try LiveLab(seed: 6)
    try lab.change(40)
    let fetch = Fetch(Concert.self).where(#Predicate { $0.title.count == 4 })
      .sorted(by: [SortDescriptor(\.title)])
    let rows = try lab.store.snapshot().rows(fetch, sections: .by(\.rating))
    #expect(try rows.all().allSatisfy { $0.title.count == 4 })
    #expect(rows.sectionCount > 1)
    for section in try rows.sections() {
      let titles = try rows.rows(in: section.range).map(\.title)
      #expect(titles == titles.sorted())
    }
  }
}
