import Annals
import Foundation
import Testing

private struct Entry: Record {
  var title: String
  static let entity = RecordEntity("Entry", Entry.init, Property("title", \.title))
}

/// The code of *Errors*.
@Suite struct ErrorsTests {
  @Test func whatIsNotExpectedIsThrownOn() throws {
    let store = try Store(.memory, records: Entry.self, environment: .fixed())
    for title in ["Fog", "Mist", "Dew"] {
      try store.write { tx in try tx.insert(Entry(title: title)) }
    }
    try show(store)
    try store.prune(store.prunePlan(before: 3))
    try show(store)
    #expect(store.snapshot().number == 4)
  }

  private func show(_ store: Store) throws {
    do {
      let then = try store.snapshot(at: 1)
      print(try then.objects(of: Entry.self).count)
    } catch {
      guard error.code == .pruned else { throw error }
      print("history begins after", error.gap?.oldestValid.number ?? 0)
    }
  }
}
