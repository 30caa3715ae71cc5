import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// The record type of a later program.
private struct LaterConcert: Record {
  var start: Date
  var mood: String?
  static let entity = RecordEntity(
    "Concert", LaterConcert.init, Property("start", \.start), Property("mood", \.mood))
}

/// A live view shows what a fetch finds, and its differences lead there.
@Suite(.deadline) struct LiveViewTests {
  @Test(arguments: 1...16 as ClosedRange<UInt64>, [LiveDelivery.latest, .everyTransaction])
  func `follows a random history`(seed: UInt64, delivery: LiveDelivery) async throws {
    let lab = try LiveLab(seed: seed)
    try lab.change(60)
    var (fetch, sections) = lab.fetch()
    let view = lab.store.live(fetch, sections: sections, delivery: delivery)
    var iterator = view.makeAsyncIterator()
    var follower = Follower()
    try follower.apply(try #require(try await iterator.next()), "seed \(seed), first")
    /// The transactions that are still to come.
    var tokens: [Token] = []
    for round in 0..<25 {
      let comment: Comment = "seed \(seed), \(delivery), round \(round): \(fetch)"
      for _ in 0..<lab.below(4) {
        try lab.change(1 + lab.below(4))
        tokens.append(lab.store.token)
      }
      if round % 7 == 6 {
        (fetch, sections) = lab.fetch()
        view.change(to: fetch, sections: sections)
        let update = try #require(try await iterator.next(), comment)
        try follower.apply(update, comment)
        tokens.removeAll { $0 <= update.token }
      }
      while follower.rows != (try Self.expected(lab, fetch, sections)) {
        let update = try #require(try await iterator.next(), comment)
        #expect(!update.diff.isEmpty, comment)
        try follower.apply(update, comment)
        let then = try lab.store.snapshot(at: update.token)
        let list = try then.rows(fetch, sections: sections)
        #expect(try update.rows.all() == list.all(), comment)
        if delivery == .everyTransaction {
          #expect(tokens.contains(update.token), comment)
          tokens.removeAll { $0 <= update.token }
        } else {
          #expect(update.token == lab.store.token, comment)
        }
      }
    }
  }

  /// What the fetch finds, without a list where there are no sections.
  private static func expected(
    _ lab: LiveLab, _ fetch: Fetch<Concert>, _ sections: RecordSections<Concert>?
  ) throws -> [Object<Concert>] {
    let snapshot = lab.store.snapshot()
    guard let sections else { return try snapshot.fetch(fetch) }
    return try snapshot.rows(fetch, sections: sections).all()
  }

  @Test func `positions, pages and sections`() async throws {
    let lab = try LiveLab(seed: 3)
    try lab.store.put { tx in
      for number in 0..<600 {
        try tx.insert(
          Concert(title: "\(number)", start: LiveLab.day(599 - number), rating: nil, venue: nil))
      }
    }
    let rows = try lab.store.live(
      Fetch(Concert.self).sorted(by: \.start), sections: .calendar(.month, of: \.start)
    ).rows()
    #expect(rows.count == 600 && rows.sectionCount == 20)
    #expect(try rows.rows(in: 300..<500).map(\.title) == (100..<300).reversed().map { "\($0)" })
    #expect(try rows[31].title == "568" && rows[1, 0].title == "568")
    #expect(rows.place(of: 31) == ListDiff.Place(position: 31, section: 1, item: 0))
    let february = try rows.section(1)
    #expect(february.bucket?.label == "1970-02" && february.count == 28)
    #expect(february.value == .date(Timestamp(LiveLab.day(31))))
    #expect(try rows.position(of: rows.objectIDs[77]) == 77)
    try lab.store.put { try $0.delete(rows.objectIDs[77]) }
    #expect(try rows[77].title == "522", "a value stays as it is")
    #expect(try lab.store.live(Fetch<Concert>()).rows().position(of: rows.objectIDs[77]) == nil)
  }

  @Test func `what changed is named`() async throws {
    let lab = try LiveLab(seed: 4)
    let fog = try lab.store.put { tx in
      try tx.insert(Concert(title: "fog", start: LiveLab.day(9), rating: 2, venue: nil))
      return try tx.insert(Concert(title: "fog", start: LiveLab.day(1), rating: 2, venue: nil))
    }
    var iterator = lab.store.live(Fetch(Concert.self).sorted(by: \.start)).makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.isInitial && first.diff.inserts.count == 2 && first.diff.deletes.isEmpty)
    try lab.store.put { try $0.update(fog) { $0.title = "mist" } }
    let update = try #require(try await iterator.next()?.diff)
    #expect(update.updates.count == 1 && update.moves.isEmpty)
    #expect(update.changedProperties(of: update.updates[0]) == ["title"])
    try lab.store.put { tx in
      try tx.update(Concert.self, fog.objectID) {
        $0.start = LiveLab.day(20)
        $0.rating = 5
      }
    }
    let move = try #require(try await iterator.next()?.diff)
    #expect(move.updates.isEmpty && move.moves.count == 1)
    #expect(move.moves[0].from.position == 0 && move.moves[0].to.position == 1)
    #expect(move.changedProperties(of: move.moves[0]) == ["start", "rating"])
    // A new date that leaves the row where it is.
    try lab.store.put { try $0.update(Concert.self, fog.objectID) { $0.start = LiveLab.day(30) } }
    let stay = try #require(try await iterator.next()?.diff)
    #expect(stay.moves.isEmpty && stay.updates.count == 1)
  }

  @Test func `a lagging reader gets one step, or each`() async throws {
    let lab = try LiveLab(seed: 5)
    var latest = lab.store.live(Fetch<Concert>()).makeAsyncIterator()
    var every = lab.store.live(Fetch<Concert>(), delivery: .everyTransaction).makeAsyncIterator()
    _ = try await latest.next()
    _ = try await every.next()
    let concert = try lab.concert()
    var tokens: [Token] = []
    for number in 0..<5 {
      try lab.store.put { tx in
        // One transaction is of no interest.
        if number == 2 { try tx.insert(Venue(name: "Otsu")) } else { try tx.insert(concert) }
      }
      tokens.append(lab.store.token)
    }
    let leap = try #require(try await latest.next())
    #expect(leap.diff.inserts.count == 4 && leap.token == tokens[4])
    tokens.remove(at: 2)
    for token in tokens {
      let step = try #require(try await every.next())
      #expect(step.token == token && step.diff.inserts.count == 1)
    }
  }

  @Test func `steps are held back, rows are not`() async throws {
    let lab = try LiveLab(seed: 6)
    for delivery in [LiveDelivery.latest, .everyTransaction] {
      let byOthers = lab.store.live(
        Fetch<Concert>(), delivery: delivery, updatesFor: .author != "me")
      let byTitle = lab.store.live(
        Fetch<Concert>(), delivery: delivery, updatesFor: .touches(\Concert.title))
      var others = byOthers.makeAsyncIterator()
      var titles = byTitle.makeAsyncIterator()
      let start = try #require(try await others.next()).rows.count
      _ = try await titles.next()
      let concert = try lab.concert()
      let mine = try lab.store.put(author: "me") { try $0.insert(concert) }
      #expect(try await titles.next()?.diff.inserts.count == 1)
      try lab.store.put(author: "me") { try $0.update(mine) { $0.rating = 77 } }
      try lab.store.put(author: "you") { _ = try $0.insert(concert) }
      let update = try #require(try await others.next())
      #expect(update.diff.inserts.count == 2 && update.rows.count == start + 2)
      let title = try #require(try await titles.next())
      #expect(title.diff.inserts.count == 1 && title.diff.updates.count == 1)
      #expect(title.diff.changedProperties(of: title.diff.updates[0]) == ["rating"])
    }
  }

  @Test func `a prune is survived, or told`() async throws {
    let lab = try LiveLab(seed: 7)
    var latest = lab.store.live(Fetch<Concert>()).makeAsyncIterator()
    var every = lab.store.live(Fetch<Concert>(), delivery: .everyTransaction).makeAsyncIterator()
    var follower = Follower()
    try follower.apply(try #require(try await latest.next()), "first")
    _ = try await every.next()
    for _ in 0..<5 { try lab.change(5) }
    let concert = try lab.concert()
    try lab.store.put { _ = try $0.insert(concert) }
    try lab.store.prune(lab.store.prunePlan(before: lab.store.token))
    try lab.store.put { _ = try $0.insert(concert) }
    try follower.apply(try #require(try await latest.next()), "after the prune")
    #expect(follower.rows.map(\.objectID) == (try lab.store.snapshot().objectIDs(Fetch<Concert>())))
    let error = await #expect(throws: AnnalsError.self) { try await every.next() }
    #expect(error?.code == .pruned)
  }

  /// Whichever of two neighbours passes the other, it is the one that moved.
  @Test func `what moves in a window is what changed`() throws {
    let store = try Store(.memory, records: Concert.self, Venue.self)
    let concerts = try store.put { tx in
      try (1...6).map { number in
        try tx.insert(
          Concert(title: "fog", start: LiveLab.day(number), rating: number * 10, venue: nil))
      }
    }
    let fetch = Fetch(Concert.self).sorted(by: \.rating).limit(4)
    for (index, rating) in [(0, 25), (2, 22), (3, 10), (3, 45)] {
      let before = store.token
      try store.put { try $0.set(\.rating, of: concerts[index], to: rating) }
      let diff = try store.diff(of: fetch, from: before)
      let rows = try store.snapshot().rows(fetch)
      let moved = diff.moves.map { rows.objectIDs[$0.to.position] }
      #expect(moved == [concerts[index].objectID], "\(index) to \(rating)")
      #expect(diff.deletes.isEmpty && diff.inserts.isEmpty && diff.updates.isEmpty)
    }
  }

  @Test func `between any two points of history`() throws {
    let lab = try LiveLab(seed: 8)
    var tokens = [lab.store.token]
    for _ in 0..<12 {
      try lab.change(12)
      tokens.append(lab.store.token)
    }
    for _ in 0..<40 {
      let (fetch, sections) = lab.fetch()
      let (a, b) = (tokens[lab.below(13)], tokens[lab.below(13)])
      let old = try lab.store.snapshot(at: a).rows(fetch, sections: sections)
      let new = try lab.store.snapshot(at: b).rows(fetch, sections: sections)
      var rows = try old.all()
      let diff = try lab.store.diff(of: fetch, sections: sections, from: a, to: b)
      try diff.apply(to: &rows) { place throws(AnnalsError) in try new[place.position] }
      #expect(try rows == new.all(), "\(fetch)")
      #expect(diff.isEmpty == (try old.all() == new.all()))
    }
  }

  @Test func `another fetch keeps the sections unless told otherwise`() async throws {
    let lab = try LiveLab(seed: 11)
    try lab.change(80)
    let byStart = Fetch(Concert.self).sorted(by: \.start)
    let view = lab.store.live(byStart, sections: .calendar(.month, of: \.start))
    var iterator = view.makeAsyncIterator()
    let count = try #require(try await iterator.next()).rows.sectionCount
    #expect(count > 1)
    view.change(to: Fetch(Concert.self).sorted(by: .descending(\.start)))
    #expect(try await iterator.next()?.rows.sectionCount == count)
    view.change(to: byStart, sections: nil)
    #expect(try await iterator.next()?.rows.sectionCount == 0)
    view.change(to: byStart, sections: .calendar(.month, of: \.start))
    #expect(try await iterator.next()?.rows.sectionCount == count)
  }

  @Test func `by names`() async throws {
    let lab = try LiveLab(seed: 9)
    try lab.change(80)
    let view = lab.store.live(
      "Concert", where: .compare("rating", .greater, .int(1)), sortedBy: [.descending("start")],
      sections: .by(["venue", "name"]))
    var iterator = view.makeAsyncIterator()
    let first = try #require(try await iterator.next())
    let names = try first.rows.sections().map(\.value)
    #expect(names.first == .null && names.count > 1 && Set(names).count == names.count)
    let typed = try lab.store.snapshot().rows(
      Fetch(Concert.self).where(\.rating > 1).sorted(by: .descending(\.start)),
      sections: .by(\.venue, \.name))
    #expect(Array(typed.objectIDs) == Array(first.rows.objectIDs))
    view.change(to: "Concert", sortedBy: [.ascending("title")])
    let resorted = try #require(try await iterator.next()).rows
    #expect(try resorted.sections().map(\.value).contains(.null))
    #expect(resorted.sectionCount >= names.count)
    view.change(to: "Venue", sortedBy: [.ascending("name")])
    let second = try #require(try await iterator.next())
    let venues = try lab.store.snapshot().objects(of: Venue.self).map(\.name).sorted()
    #expect(try second.rows.all().map { $0["name"] } == venues.map(Value.string))
    #expect(second.diff.deletes.count == resorted.count && second.diff.inserts.count == 3)
    #expect(second.rows.sectionCount == 0)
    view.change(to: "Nobody")
    let error = await #expect(throws: AnnalsError.self) { try await iterator.next() }
    #expect(error?.code == .invalidArgument)
  }

  @Test(arguments: [LiveDelivery.latest, .everyTransaction])
  func `a later schema`(delivery: LiveDelivery) async throws {
    let lab = try LiveLab(seed: 10)
    try lab.change(30)
    var iterator = lab.store.live(
      Fetch(Concert.self).sorted(by: \.title), delivery: delivery
    ).makeAsyncIterator()
    var follower = Follower()
    try follower.apply(try #require(try await iterator.next()), "first")
    try lab.change(3)
    try lab.store.require([LaterConcert.self])
    try lab.store.put { tx in
      let first = try tx.objectIDs(Fetch(LaterConcert.self))[0]
      try tx.update(LaterConcert.self, first) { $0.mood = "calm" }
    }
    try lab.change(3)
    let last = lab.store.token
    var properties: Set<String> = []
    while true {
      let update = try #require(try await iterator.next())
      try follower.apply(update, "\(delivery)")
      for step in update.diff.updates + update.diff.moves {
        properties.formUnion(update.diff.changedProperties(of: step))
      }
      if update.token == last { break }
    }
    #expect(properties.contains("mood"))
    #expect(follower.rows.map(\.objectID).count == (try lab.store.snapshot().count(of: "Concert")))
  }
}
