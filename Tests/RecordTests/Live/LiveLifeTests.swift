import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Observation
import Testing

/// Live views end when they should, and let go of everything.
@Suite(.deadline) struct LiveLifeTests {
  @Test func `ends with the store`() async throws {
    let lab = try LiveLab(seed: 1)
    for delivery in [LiveDelivery.latest, .everyTransaction] {
      let store = try Store(.memory, records: Concert.self, Venue.self)
      let view = store.live(Fetch<Concert>(), delivery: delivery)
      let counter = Counter()
      let task = Task { for try await _ in view { counter.add() } }
      try await waitFor { counter.value == 1 }
      let concert = try lab.concert()
      var local = concert
      local.venue = nil
      let inserted = local
      try store.put { _ = try $0.insert(inserted) }
      try store.close()
      try await task.value
      #expect(counter.value == 2)
    }
  }

  @Test func `ends with the task`() async throws {
    let lab = try LiveLab(seed: 2)
    let view = lab.store.live(Fetch<Concert>())
    let counter = Counter()
    let task = Task { for try await _ in view { counter.add() } }
    try await waitFor { counter.value == 1 }
    task.cancel()
    try await task.value
  }

  @Test(arguments: [LiveDelivery.latest, .everyTransaction])
  func `kept rows stay as they were`(delivery: LiveDelivery) async throws {
    let lab = try LiveLab(seed: 9)
    try lab.change(60)
    let view = lab.store.live(Fetch(Concert.self).sorted(by: \.start), delivery: delivery)
    var keeping = view.makeAsyncIterator()
    var forgetting = view.makeAsyncIterator()
    var kept: [(rows: RowList<Object<Concert>>, ids: [ObjectID])] = []
    for _ in 0..<40 {
      let update = try #require(try await keeping.next())
      kept.append((update.rows, Array(update.rows.objectIDs)))
      let diff = try await forgetting.next()?.diff
      #expect(diff == update.diff)
      let concert = try lab.concert()
      try lab.store.put { _ = try $0.insert(concert) }
    }
    for (rows, ids) in kept {
      #expect(Array(rows.objectIDs) == ids)
      #expect(try rows.snapshot.count(of: Concert.self) == ids.count)
      for (place, id) in ids.enumerated() where place % 7 == 0 {
        #expect(try rows.position(of: id) == place)
      }
    }
  }

  @Test(arguments: [LiveDelivery.latest, .everyTransaction])
  func `rows have the store's clock`(delivery: LiveDelivery) async throws {
    let store = try Store(.memory, records: Concert.self, Venue.self, environment: .fixed())
    let view = store.live(Fetch(Venue.self), delivery: delivery)
    var iterator = view.makeAsyncIterator()
    for _ in 0..<3 {
      let update = try #require(try await iterator.next())
      let now = Date(update.rows.snapshot.clock())
      #expect(now < Date(timeIntervalSince1970: 1_700_100_000))
      try store.put { _ = try $0.insert(Venue(name: "Uji")) }
    }
  }

  @Test func `an observer is told the error that ends it`() async throws {
    let lab = try LiveLab(seed: 4)
    let updates = Counter()
    let errors = Counter()
    let observation = lab.store.live("Nowhere").observe { result in
      switch result {
      case .success: updates.add()
      case .failure(let error): if error.message.contains("Nowhere") { errors.add() }
      }
    }
    try await waitFor { errors.value == 1 }
    #expect(updates.value == 0)
    withExtendedLifetime(observation) {}
  }

  @Test func `the end of an observation releases everything`() async throws {
    weak var weakStore: Store?
    let counter = Counter()
    try await { () async throws in
      let lab = try LiveLab(seed: 3)
      weakStore = lab.store
      var observation: LiveObservation? = lab.store.live(Fetch<Concert>()).observe { _ in
        counter.add()
      }
      try await waitFor { counter.value == 1 }
      try lab.change(9)
      try await waitFor { counter.value >= 2 }
      withExtendedLifetime(observation) {}
      observation = nil
      let seen = counter.value
      try lab.change(9)
      #expect(counter.value == seen)
    }()
    try await waitFor { weakStore == nil }
  }

  @Test func `commits of other processes arrive`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let lab = try LiveLab(seed: 4, at: .file(path))
    var iterator = lab.store.live(Fetch<Concert>()).makeAsyncIterator()
    _ = try await iterator.next()
    let other = try Store(path: path, records: Concert.self, Venue.self)
    let concert = Concert(title: "far", start: LiveLab.day(1), rating: nil, venue: nil)
    for round in 1...3 {
      try other.put { _ = try $0.insert(concert) }
      let update = try await iterator.next()
      #expect(update?.diff.inserts.count == 1 && update?.rows.count == round)
      // A rewrite by the other, and commits behind it.
      if round == 2 { try other.compact() }
    }
    try other.close()
  }

  @MainActor @Test func `rows for a user interface`() async throws {
    let lab = try LiveLab(seed: 5)
    weak var weakRows: LiveRows<Object<Concert>>?
    let view = lab.store.live(Fetch(Concert.self).sorted(by: \.start))
    do {
      let rows = try LiveRows(view)
      weakRows = rows
      #expect(rows.rows.isEmpty && rows.diff.isEmpty)
      let counter = Counter()
      withObservationTracking {
        _ = rows.rows.count
      } onChange: {
        counter.add()
      }
      let concert = Concert(title: "near", start: LiveLab.day(1), rating: nil, venue: nil)
      try lab.store.put { _ = try $0.insert(concert) }
      try await waitFor { counter.value == 1 }
      while rows.rows.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      #expect(rows.diff.inserts.count == 1 && rows.failure == nil)
      view.change(to: Fetch(Concert.self).where(.never))
      while !rows.rows.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      #expect(rows.diff.deletes.count == 1)
    }
    while weakRows != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(weakRows == nil)
  }

  private func waitFor(
    isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
  ) async throws {
    // If it never holds, this ends at the deadline.
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
  }
}
