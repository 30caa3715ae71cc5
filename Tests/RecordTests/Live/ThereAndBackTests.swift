import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// What was changed and changed back is no difference, neither between two points of history nor in
/// a live view.
@Suite(.deadline) struct ThereAndBackTests {
  /// A step there, and the one back.
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let there: @Sendable (Stage) throws -> Void
    let back: @Sendable (Stage) throws -> Void

    init(
      _ name: String, _ there: @escaping @Sendable (Stage) throws -> Void,
      _ back: @escaping @Sendable (Stage) throws -> Void
    ) {
      testDescription = name
      self.there = there
      self.back = back
    }
  }

  private static let cases = [
    Case("value", { try $0.set(\.title, "mist") }, { try $0.set(\.title, "fog") }),
    Case("to nil", { try $0.set(\.rating, nil) }, { try $0.set(\.rating, 3) }),
    Case(
      "sort key", { try $0.set(\.start, LiveLab.day(90)) },
      { try $0.set(\.start, LiveLab.day(5)) }),
    Case("reference", { try $0.set(\.venue, nil) }, { try $0.set(\.venue, Reference($0.venue)) }),
    Case(
      "deletion", { stage in try stage.store.put { try $0.delete(stage.concert) } },
      { try $0.store.revert($0.store.token) }),
    Case(
      "insertion",
      { stage in
        try stage.store.put { _ = try $0.insert(stage.other) }
      }, { try $0.store.revert($0.store.token) }),
    Case(
      "the venue's name",
      { stage in try stage.store.put { try $0.set(\.name, of: stage.venue, to: "Nara") } },
      { stage in try stage.store.put { try $0.set(\.name, of: stage.venue, to: "Uji") } }),
    Case(
      "the venue's deletion", { stage in try stage.store.put { try $0.delete(stage.venue) } },
      { try $0.store.revert($0.store.token) }),
  ]

  /// Some concerts, of which one is changed.
  final class Stage: Sendable {
    let store: Store
    let venue: Object<Venue>
    let concert: Object<Concert>
    let other = Concert(title: "other", start: LiveLab.day(7), rating: 3, venue: nil)

    init() throws {
      store = try Store(.memory, records: Concert.self, Venue.self)
      (venue, concert) = try store.put { tx in
        let venue = try tx.insert(Venue(name: "Uji"))
        for day in [1, 9, 40] {
          try tx.insert(
            Concert(title: "rain", start: LiveLab.day(day), rating: day, venue: Reference(venue)))
        }
        let concert = Concert(
          title: "fog", start: LiveLab.day(5), rating: 3, venue: Reference(venue))
        return (venue, try tx.insert(concert))
      }
    }

    func set<V: AttributeValue & Sendable>(
      _ path: KeyPath<Concert, V>, _ value: V
    ) throws {
      try store.put { try $0.set(path, of: concert, to: value) }
    }

    /// By a property, by a property of the venue, and in sections.
    var fetches: [(Fetch<Concert>, RecordSections<Concert>?)] {
      let byStart = Fetch(Concert.self).sorted(by: \.start)
      return [
        (byStart, nil), (byStart, .calendar(.month, of: \.start)),
        (Fetch(Concert.self).sorted(by: .ascending(\.venue, \.name)).sorted(by: \.title), nil),
        (byStart.where(\.rating > 2 && .through(\.venue, \.name == "Uji")).limit(3), nil),
      ]
    }
  }

  @Test(arguments: cases) func `between two points of history`(_ trial: Case) throws {
    let stage = try Stage()
    let start = stage.store.token
    try trial.there(stage)
    let middle = stage.store.token
    try trial.back(stage)
    for (fetch, sections) in stage.fetches {
      let diff = try stage.store.diff(of: fetch, sections: sections, from: start)
      #expect(diff.isEmpty, "\(fetch): \(diff)")
      let back = try stage.store.diff(
        of: fetch, sections: sections, from: stage.store.token, to: start)
      #expect(back.isEmpty, "\(fetch): \(back)")
    }
    #expect(try stage.store.diff(from: start).changes.isEmpty)
    #expect(try stage.store.diff(from: stage.store.token, to: start).changes.isEmpty)
    // One way is none of these.
    #expect(try !stage.store.diff(from: start, to: middle).changes.isEmpty)
    #expect(try !stage.store.diff(from: middle).changes.isEmpty)
  }

  /// What else has changed is all that is told.
  @Test(arguments: cases) func `beside another change`(_ trial: Case) throws {
    let stage = try Stage()
    let start = stage.store.token
    try trial.there(stage)
    try trial.back(stage)
    try stage.store.put { tx in
      let last = try #require(try tx.fetch(Fetch(Concert.self).where(\.rating == 40)).first)
      try tx.update(last) { $0.title = "snow" }
    }
    let diff = try stage.store.diff(of: Fetch(Concert.self).sorted(by: \.start), from: start)
    #expect(diff.deletes.isEmpty && diff.inserts.isEmpty && diff.moves.isEmpty)
    #expect(diff.updates.map(\.to.position) == [3])
    #expect(diff.updates.map { diff.changedProperties(of: $0) } == [["title"]])
  }

  /// So many transactions make no step, and the one that makes one takes back what they did.
  @Test(arguments: 1...4, [LiveDelivery.latest, .everyTransaction])
  func `back within a step`(_ count: Int, delivery: LiveDelivery) async throws {
    let stage = try Stage()
    var updates = stage.store.live(
      Fetch(Concert.self).sorted(by: \.start), delivery: delivery,
      updatesFor: .author == "marker"
    ).makeAsyncIterator()
    let first = try #require(try await updates.next())
    let marked = try #require(first.rows.objectIDs.last)
    for number in 1...count {
      try stage.store.put { tx in
        try tx.set(\Concert.title, of: stage.concert, to: "mist \(number)")
        try tx.set(\Concert.start, of: stage.concert, to: LiveLab.day(50 + number))
      }
    }
    try stage.store.put(author: "marker") { tx in
      try tx.set(\Concert.title, of: stage.concert, to: "fog")
      try tx.set(\Concert.start, of: stage.concert, to: LiveLab.day(5))
      try tx.set(\Concert.title, of: marked, to: "marked")
    }
    let diff = try #require(try await updates.next()).diff
    #expect(diff.deletes.isEmpty && diff.inserts.isEmpty && diff.moves.isEmpty, "\(diff)")
    #expect(diff.updates.map { diff.changedProperties(of: $0) } == [["title"]], "\(diff)")
  }

  /// A view that slept meanwhile, and one to which such transactions make no step.
  @Test(arguments: cases, [LiveDelivery.latest, .everyTransaction])
  func `in a live view`(_ trial: Case, delivery: LiveDelivery) async throws {
    let stage = try Stage()
    for (number, (fetch, sections)) in stage.fetches.enumerated() {
      var updates = stage.store.live(
        fetch, sections: sections, delivery: delivery, updatesFor: .author == "marker"
      ).makeAsyncIterator()
      let first = try #require(try await updates.next())
      try trial.there(stage)
      try trial.back(stage)
      let marked = try #require(first.rows.objectIDs.last)
      try stage.store.put(author: "marker") {
        try $0.set(\Concert.title, of: marked, to: "\(number)")
      }
      let update = try #require(try await updates.next())
      let diff = update.diff
      #expect(diff.deletes.isEmpty && diff.inserts.isEmpty && diff.deletedSections.isEmpty)
      let steps = diff.updates + diff.moves
      #expect(steps.map { diff.changedProperties(of: $0) } == [["title"]], "\(fetch): \(diff)")
    }
  }
}
