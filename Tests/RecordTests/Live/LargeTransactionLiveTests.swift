import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// A transaction of several parts is one step, whichever of its parts meets the condition.
@Suite(.deadline) struct LargeTransactionLiveTests {
  @Test(arguments: [0, 1, 2]) func anyPartMakesTheStep(_ place: Int) async throws {
    let lab = try LiveLab(seed: 1)
    let view = lab.store.live(
      Fetch<Concert>(), delivery: .everyTransaction, updatesFor: .touches(\Venue.name))
    var updates = view.makeAsyncIterator()
    #expect(try await updates.next()?.rows.count == 0)
    let title = String(repeating: "fog", count: 1_000)
    try await lab.store.write { tx in
      for part in 0...2 {
        if part == place { try tx.insert(Venue(name: "Otsu")) }
        for _ in 0..<150 {
          try tx.insert(Concert(title: title, start: LiveLab.day(part), rating: nil, venue: nil))
        }
      }
    }
    let large = lab.store.token
    try await lab.store.write { tx in
      try tx.insert(Venue(name: "Uji"))
      try tx.insert(Concert(title: "mist", start: LiveLab.day(9), rating: nil, venue: nil))
    }
    let first = try #require(try await updates.next())
    #expect(first.token == large && first.rows.count == 450 && first.diff.inserts.count == 450)
    let second = try #require(try await updates.next())
    #expect(second.token == lab.store.token && second.diff.inserts.count == 1)
  }
}
