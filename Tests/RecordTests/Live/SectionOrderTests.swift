import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Sections come in the order that a program lists, and rows move between them.
@Suite(.deadline) struct SectionOrderTests {
  /// What a list shows: the section's value, then titles.
  private static func shown(_ rows: RowList<Object<Concert>>) throws -> [[String]] {
    try rows.sections().map { section in
      ["\(section.value)"] + (try rows.rows(in: section.range).map(\.title))
    }
  }

  private static func store() throws -> Store {
    let store = try Store(.memory, records: Concert.self, Venue.self)
    try store.put { tx in
      let venues = try ["Uji", "nara", "Kyoto"].map { try tx.insert(Venue(name: $0)) }
      for (number, rating) in [3, 1, nil, 2, 1, 5, nil].enumerated() {
        try tx.insert(
          Concert(
            title: "\(number)", start: LiveLab.day(number), rating: rating,
            venue: number < 3 ? Reference(venues[number]) : nil))
      }
    }
    return store
  }

  @Test func `listed values come first, then the others, nil where it was`() throws {
    let snapshot = try Self.store().snapshot()
    let all = Fetch(Concert.self)
    func titles(
      _ fetch: Fetch<Concert>, _ sections: RecordSections<Concert>
    ) throws -> [[String]] {
      try Self.shown(try snapshot.rows(fetch, sections: sections)).map { Array($0.dropFirst()) }
    }
    #expect(
      try titles(all, .by(\.rating, order: [2, 1, 9])) == [
        ["2", "6"], ["3"], ["1", "4"], ["0"], ["5"],
      ])
    #expect(
      try titles(all.sorted(by: .descending(\.rating)), .by(\.rating, order: [2, 1])) == [
        ["3"], ["4", "1"], ["5"], ["0"], ["6", "2"],
      ], "the order of the other values is that of the fetch")
    #expect(
      try titles(all.sorted(by: \.start, .descending), .by(\.rating, order: [5, nil, 1, 5])) == [
        ["5"], ["6", "2"], ["4", "1"], ["3"], ["0"],
      ])
    #expect(
      try titles(all.where(\.rating != 1), .by(\.venue, \.name, order: ["Uji"])) == [
        ["3", "5", "6"], ["0"], ["2"],
      ])
  }

  @Test func `a listed value of another kind is refused, and names say the same`() throws {
    let snapshot = try Self.store().snapshot()
    let concerts = DynamicFetch("Concert")
    let error = #expect(throws: AnnalsError.self) {
      try snapshot.rows(concerts, sections: .by("rating", order: [.string("high")]))
    }
    #expect(error?.message.contains("\"rating\" is of type int64") == true, "\(error as Any)")
    let rows = try snapshot.rows(concerts, sections: .by("rating", order: [.int(2), .null]))
    #expect(
      try rows.sections().map(\.value) == [.int(2), .null, .int(1), .int(3), .int(5)])
  }

  @Test func `a row that gets another value moves to its section`() async throws {
    let store = try Self.store()
    let fetch = Fetch(Concert.self).sorted(by: \.start)
    let view = store.live(fetch, sections: .by(\.rating, order: [5, 3, 1]))
    var updates = view.makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(
      try Self.shown(first.rows).map { Array($0.dropFirst()) } == [
        ["2", "6"], ["5"], ["0"], ["1", "4"], ["3"],
      ])
    try store.put { tx in
      try tx.update(Concert.self, where: \.title == "4") { $0.rating = 5 }
    }
    let diff = try #require(try await updates.next()).diff
    #expect(diff.inserts.isEmpty && diff.deletes.isEmpty && diff.updates.isEmpty)
    let move = try #require(diff.moves.first)
    #expect(move.from.section == 3 && move.from.item == 1)
    #expect(move.to.section == 1 && move.to.item == 0 && diff.moves.count == 1)
    // The only row of a section leaves it, for one that was not there.
    try store.put { tx in
      try tx.update(Concert.self, where: \.title == "3") { $0.rating = 9 }
    }
    let other = try #require(try await updates.next()).diff
    #expect(other.deletedSections == [4] && other.insertedSections == [4])
    // Another order of the same sections.
    view.change(to: fetch, sections: .by(\.rating, order: [1, 3, 5]))
    let turned = try #require(try await updates.next())
    #expect(
      try Self.shown(turned.rows).map { Array($0.dropFirst()) } == [
        ["2", "6"], ["1"], ["0"], ["4", "5"], ["3"],
      ])
  }
}
